"""Convolutions with their bias and the steps after them become ``torch_xpu.fused_convolution``.

A convolution that stays ATen's has its bias added by a kernel of its own.
"""

from __future__ import annotations

import torch
from torch.fx import Node

from .chains import FUSIBLE_DTYPES, Chain, chains, value_of
from .operators import steps_as_arguments

aten = torch.ops.aten
# Others, such as operands and a relu that keeps NaN, take longer than a kernel that reads from the caches.
_FAST_ON_A_CPU = ("gelu_erf", "gelu_tanh", "silu", "tanh", "sigmoid", "hardswish", "linear")


def is_convolution(node: Node) -> bool:
    """Return True for a convolution that steps can follow."""
    if node.target is not aten.convolution.default or value_of(node).dtype not in FUSIBLE_DTYPES:
        return False
    source, _, _, *geometry = node.args
    assert isinstance(source, Node)
    if any(isinstance(number, Node) for argument in geometry for number in _numbers(argument)):
        return False
    return value_of(source).dim() == value_of(node).dim()  # a batch


def fuse_convolution(node: Node, all_steps: bool) -> bool:
    """Replace a convolution that has a bias, or steps after it that save a pass over memory.

    Unless it takes all steps, it takes those alone that are fast on a CPU.
    """
    *_, chain = found = [c for c in chains(node, views=False) if all_steps or _is_fast_on_a_cpu(c)]
    if not chain.is_worthwhile():
        if node.args[2] is None:
            return False
        chain = found[0]
    with node.graph.inserting_before(chain.end):
        fused = node.graph.call_function(
            torch.ops.torch_xpu.fused_convolution.default,
            (*node.args, *steps_as_arguments(chain.steps)),
        )
        fused.meta = chain.end.meta | {"val": value_of(node)}
    chain.end.replace_all_uses_with(fused)
    return True


def _is_fast_on_a_cpu(chain: Chain) -> bool:
    return all(step.name in _FAST_ON_A_CPU for step in chain.steps)


def _numbers(argument: object) -> tuple[object, ...]:
    return tuple(argument) if isinstance(argument, (list, tuple)) else (argument,)
