"""Expressions that draw the same numbers as eager mode's random fills, by functions of xpu/draw.h."""

from __future__ import annotations

from typing import Any

import torch
from torch._inductor import ir
from torch._inductor.lowering import make_fallback, register_lowering
from torch._inductor.virtualized import ops

from ..eager_random import _random, _random_states
from .values import DeviceExpression


def _expression(distribution: str, dtype: torch.dtype, low: int, count: int) -> DeviceExpression:
    """Return the expression of seed {0}, block {1} and element {2}."""
    if distribution == "integers":
        count %= 1 << 64
        type = "u64" if count >= 1 << 32 else "u32"
        number = f"draw_integer({{0}}, {{1}}, {{2}}, ({type}){count}ul)"
        return DeviceExpression(f"(i64)({low % (1 << 64)}ul + {number})")
    type = "double" if dtype == torch.float64 else "float"
    return DeviceExpression(f"draw_{distribution}<{type}>({{0}}, {{1}}, {{2}})")


@register_lowering(_random, type_promotion_kind=None)
def _lower_random(
    size: Any,
    states: Any,
    index: int,
    distribution: str,
    dtype: torch.dtype,
    low: int = 0,
    count: int = 0,
) -> Any:
    device, size = states.get_device_or_error(), [*size]
    strides = ir.FlexibleLayout.contiguous_strides(size)
    position = ir.FixedLayout(device, dtype, size, strides).make_indexer()
    state = states.make_loader()
    text = _expression(distribution, dtype, low, count)
    drawn = torch.int64 if distribution == "integers" else dtype
    if dtype in (torch.float16, torch.bfloat16):
        drawn = torch.float32

    def element(at: Any) -> Any:
        number = ops.index_expr(position(at), torch.int64)
        value = ops.inline_asm_elementwise(
            state([index, 0]), state([index, 1]), number, asm=text, dtype=drawn
        )
        if drawn == dtype:
            return value
        value = ops.to_dtype(value, dtype, use_compute_types=False)
        if distribution != "uniform":
            return value
        # The interval excludes its upper end, which rounding may produce.
        is_end = ops.eq(value, ops.constant(1, dtype))
        return ops.where(is_end, ops.constant(0, dtype), value)

    result = ir.Pointwise.create(device=device, dtype=dtype, inner_fn=element, ranges=size)
    result.realize()
    return result


make_fallback(_random_states)
