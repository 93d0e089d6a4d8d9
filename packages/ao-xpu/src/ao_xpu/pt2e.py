"""PT2E on xpu: the graph that torchao lowers without Inductor writes to no input."""

from __future__ import annotations

import functools
from collections.abc import Callable, Iterator, Sequence
from typing import Any

import torch

_onednn = torch.ops.onednn
_LINEAR = (_onednn.qlinear_pointwise.binary, _onednn.qlinear_pointwise.binary_tensor)
_CONVOLUTION = (_onednn.qconv2d_pointwise.binary, _onednn.qconv2d_pointwise.binary_tensor)
# The positions of arguments.
_SUMMAND, _STEP_OF_LINEAR = 6, 13


def lower(stock: Callable[..., Any]) -> Callable[..., Any]:
    """Return ``lower_pt2e_quantized_to_x86`` whose sums, on xpu, add to copies of inputs."""

    @functools.wraps(stock)
    def lower_pt2e_quantized_to_x86(
        model: torch.fx.GraphModule, example_inputs: Sequence[Any]
    ) -> torch.fx.GraphModule:
        lowered: torch.fx.GraphModule = stock(model, example_inputs)
        if any(isinstance(x, torch.Tensor) and x.is_xpu for x in example_inputs):
            for node in list(_sums_with_inputs(lowered.graph)):
                _keep_input(node)
            lowered.recompile()
        return lowered

    return lower_pt2e_quantized_to_x86


def _sums_with_inputs(graph: torch.fx.Graph) -> Iterator[torch.fx.Node]:
    for node in graph.nodes:
        if node.target in _CONVOLUTION + _LINEAR and _has_memory_of_input(node.args[_SUMMAND]):
            yield node


def _has_memory_of_input(node: torch.fx.Node) -> bool:
    while node.op == "call_function":
        is_view = isinstance(node.target, torch._ops.OpOverload) and node.target.is_view
        if not is_view and node.target is not torch.ops.aten.reshape.default:
            return False
        node = node.all_input_nodes[0]
    return True


def _keep_input(node: torch.fx.Node) -> None:
    if node.target in _LINEAR:
        node.update_arg(_STEP_OF_LINEAR, "add")
        return
    with node.graph.inserting_before(node):
        copy = node.graph.call_function(torch.ops.aten.clone.default, (node.args[_SUMMAND],))
    node.update_arg(_SUMMAND, copy)
