"""Marks of quantized layers whose numbers are at most 127."""

import pytest
import torch
import torch.ao.quantization.fx._decomposed  # registers the operators

from torch_xpu import quantized_ranges

decomposed, aten = torch.ops.quantized_decomposed, torch.ops.aten


def layer(graph, x):
    arguments = (x, 1.0, 0, x, x, x, None, 1.0, 0, torch.float32, "none", [], "")
    return graph.call_function(torch.ops.onednn.qlinear_pointwise.default, arguments)


def rounded(graph, x, most=127, dtype=torch.uint8):
    arguments = (x, 1.0, 0, 0, most, dtype)
    return graph.call_function(decomposed.quantize_per_tensor.default, arguments)


SOURCES = {
    "reduced": (rounded, ";x<128"),
    "whole": (lambda graph, x: rounded(graph, x, 255), ""),
    "signed": (lambda graph, x: rounded(graph, x, 127, torch.int8), ""),
    "not rounded": (lambda graph, x: x, ""),
    "view": (lambda g, x: g.call_function(aten.view.default, (rounded(g, x), [-1])), ";x<128"),
    "slice": (lambda g, x: g.call_function(aten.slice.Tensor, (rounded(g, x), 0, 0, 2)), ";x<128"),
    "joined": (lambda g, x: g.call_function(aten.slice_scatter.default, (rounded(g, x), x)), ""),
}


@pytest.mark.parametrize("name", SOURCES)
def test_inputs(name):
    make, expected = SOURCES[name]
    graph = torch.fx.Graph()
    node = layer(graph, make(graph, graph.placeholder("x")))
    for _ in range(2):
        quantized_ranges.mark(graph)
        assert node.args[-1] == expected


def test_each_layer_has_marks_of_its_own():
    graph = torch.fx.Graph()
    x = graph.placeholder("x")
    nodes = [layer(graph, rounded(graph, x, most)) for most in (127, 255, 100)]
    quantized_ranges.mark(graph)
    assert [node.args[-1] for node in nodes] == [";x<128", "", ";x<128"]


def test_a_fused_rounding_marks_the_result_and_the_next_input():
    graph = torch.fx.Graph()
    first = layer(graph, rounded(graph, graph.placeholder("x"), 255))
    rounding = rounded(graph, first)
    quantized_ranges.mark(graph)
    first.meta.update(rounding.meta)  # as the fusion does
    second = layer(graph, first)
    quantized_ranges.mark(graph)
    assert (first.args[-1], second.args[-1]) == (";y<128", ";x<128")
