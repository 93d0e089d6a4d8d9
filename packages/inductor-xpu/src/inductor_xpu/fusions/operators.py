"""The operators of torch-xpu that take steps: arguments, shapes of results, lowerings."""

from __future__ import annotations

import functools
from collections.abc import Sequence
from typing import Any

import torch
from torch._inductor import ir
from torch._inductor.lowering import fallback_handler, register_lowering
from torch._inductor.virtualized import V
from torch.fx import Node

from .steps import Step

fused_gemm = torch.ops.torch_xpu.fused_gemm.default
fused_convolution = torch.ops.torch_xpu.fused_convolution.default


def steps_as_arguments(steps: Sequence[Step]) -> tuple[list[str], list[float], list[Node]]:
    """Return the names, two factors for each, and the operands."""
    factors = [float(factor) for step in steps for factor in (step.alpha, step.beta)]
    operands = [step.operand for step in steps if step.operand is not None]
    return [step.name for step in steps], factors, operands


@functools.cache
def register_operators() -> None:
    """Tell PyTorch the shapes of the operators' results, and Inductor their lowerings."""
    torch.library.register_fake("torch_xpu::fused_gemm", _shape_of_product)
    torch.library.register_fake("torch_xpu::fused_convolution", _shape_of_convolution)
    register_lowering(fused_gemm, type_promotion_kind=None)(fallback_handler(fused_gemm))
    register_lowering(fused_convolution, type_promotion_kind=None)(_lower_convolution)


def _shape_of_product(a: torch.Tensor, b: torch.Tensor, *_: Any) -> torch.Tensor:
    return a.new_empty((*a.shape[:-1], b.shape[-1]))


def _shape_of_convolution(*arguments: Any) -> torch.Tensor:
    source, weight, _, *geometry = arguments[:9]
    return torch.ops.aten.convolution(source, weight, None, *geometry)


def _lower_convolution(source: Any, weight: Any, bias: Any, *others: Any) -> Any:
    """Choose the memory's layout as Inductor does for ATen's convolutions."""
    source.realize()
    weight.realize()
    if V.graph.layout_opt and len(source.get_size()) == 4:
        V.graph.num_channels_last_conv += 1
        source = ir.ExternKernel.require_channels_last(source)
        weight = ir.ExternKernel.require_channels_last(weight)
    return fallback_handler(fused_convolution)(source, weight, bias, *others)
