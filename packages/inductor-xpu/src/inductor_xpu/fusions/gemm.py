"""Products of matrices with their bias and the steps after them become ``torch_xpu.fused_gemm``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import torch
from torch.fx import Node

from .chains import FUSIBLE_DTYPES, Chain, chains, value_of
from .operators import steps_as_arguments
from .steps import Step

aten = torch.ops.aten
# The positions of the operands and the bias.
_GEMMS: dict[Any, tuple[int, int, int | None]] = {
    aten.mm.default: (0, 1, None),
    aten.bmm.default: (0, 1, None),
    aten.addmm.default: (1, 2, 0),
    aten.baddbmm.default: (1, 2, 0),
}


def is_gemm(node: Node) -> bool:
    """Return True for a product that steps can follow: one without factors."""
    return node.target in _GEMMS and not node.kwargs and value_of(node).dtype in FUSIBLE_DTYPES


def fuse_gemm(node: Node) -> bool:
    """Replace a product and the steps after it, if a pass over memory is saved."""
    *_, chain = chains(node, views=value_of(node).dim() == 2)
    if not chain.is_worthwhile():
        return False
    first, second, bias = _GEMMS[node.target]
    graph = node.graph
    with graph.inserting_before(chain.end):
        steps = tuple(_with_reshaped_operand(chain, step) for step in chain.steps)
        fused = graph.call_function(
            torch.ops.torch_xpu.fused_gemm.default,
            (
                node.args[first],
                node.args[second],
                None if bias is None else node.args[bias],
                *steps_as_arguments(steps),
            ),
        )
        fused.meta = chain.end.meta | {"val": value_of(node)}
        result = fused
        if chain.view is not None:
            result = graph.call_function(chain.view.target, (fused, *chain.view.args[1:]))
            result.meta = chain.end.meta | {"val": value_of(chain.view)}
    chain.end.replace_all_uses_with(result)
    return True


def _with_reshaped_operand(chain: Chain, step: Step) -> Step:
    """Return the step with its operand in the shape that the product's result has."""
    if step.operand is None or chain.view is None or value_of(step.operand).dim() <= 1:
        return step
    value = value_of(step.operand)
    sizes = [-1, value.shape[-1]]
    reshaped = chain.start.graph.call_function(aten.reshape.default, (step.operand, sizes))
    reshaped.meta = step.operand.meta | {"val": value.reshape(sizes)}
    return replace(step, operand=reshaped)
