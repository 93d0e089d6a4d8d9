"""Which tensors of uint8 in a graph have no number over 127, as quantizers with ``reduce_range`` make them.

The operators of quantized layers do not know it. On CPUs without VNNI, oneDNN's products of such numbers are
exact and much faster than products of floats. Marks behind the algorithm of an operator's activation tell it.
"""

from __future__ import annotations

from typing import Any

import torch

_NOTE = "xpu_quant_max"
_SMALL = 127
# The positions of the greatest number and the type among the arguments of quantize_per_tensor.
_QUANT_MAX, _TYPE = 4, 5
# The results of these have numbers of the first argument alone.
_PASSES_ON = {"view", "reshape", "permute", "transpose", "clone", "slice", "expand"}


def mark(graph: torch.fx.Graph) -> None:
    """Mark quantized layers whose inputs have no number over 127, and those whose results must have none.

    Call it before and after each fusion: an operator that rounds its result has the metadata of the rounding.
    """
    for node in graph.nodes:
        if (most := _of_rounding(node)) is not None:
            node.meta[_NOTE] = most
        elif _is_layer(node):
            *_, algorithm = node.args
            node.update_arg(len(node.args) - 1, _marked(algorithm, node))


def _is_layer(node: torch.fx.Node) -> bool:
    name = str(node.target)
    if not name.startswith("onednn.q") or "_pointwise" not in name:
        return False
    return len(node.args) == len(node.target._schema.arguments)  # the last one is the algorithm


def _marked(algorithm: str | None, layer: torch.fx.Node) -> str:
    text = (algorithm or "").partition(";")[0]
    if _has_small_numbers(layer.args[0]):
        text += ";x<128"
    if layer.meta.get(_NOTE, _SMALL + 1) <= _SMALL:
        text += ";y<128"
    return text


def _of_rounding(node: torch.fx.Node) -> int | None:
    if not str(node.target).startswith("quantized_decomposed.quantize_per_tensor"):
        return None
    most = node.args[_QUANT_MAX]
    return most if isinstance(most, int) and node.args[_TYPE] == torch.uint8 else None


def _has_small_numbers(node: Any) -> bool:
    while isinstance(node, torch.fx.Node):
        if _NOTE in node.meta:
            return bool(node.meta[_NOTE] <= _SMALL)
        namespace, _, name = str(node.target).partition(".")
        if namespace != "aten" or name.partition(".")[0] not in _PASSES_ON:
            return False
        node = node.args[0]
    return False
