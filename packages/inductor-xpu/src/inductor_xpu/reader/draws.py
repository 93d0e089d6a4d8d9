"""The numbers of eager mode's random fills as expressions of kernels.

Element e of a fill is made of word e % 4 of Philox with subsequence e / 4. A number of 64 bits takes two;
two blocks have those of four elements. kernels/random.sycl of the runtime computes the same.
"""

from __future__ import annotations

from typing import Any

import torch
from torch._inductor import ir
from torch._inductor.lowering import make_fallback, register_lowering
from torch._inductor.virtualized import ops

from ..eager_random import _random, _random_states
from .values import DeviceExpression

# {0}: the seed, {1}: the block, {2}: the element.
_NARROW = (
    "[](Random4 r, int k) {{ BODY }}(philox((u64){0}, (u64){2} >> 2, (u64){1}), (int)({2} & 3))"
)
_WIDE = (
    "[](Random4 r, int k) {{ BODY }}"
    "(philox((u64){0}, (u64){2} >> 2, (u64){1} + ({2} >> 1 & 1)), (int)({2} & 1))"
)
_WORD = "(k & 2 ? (k & 1 ? r[3] : r[2]) : (k & 1 ? r[1] : r[0]))"
_WORDS = "k ? r[2] : r[0], k ? r[3] : r[1]"


def _expression(distribution: str, dtype: torch.dtype, low: int, count: int) -> DeviceExpression:
    is_wide = count >= 1 << 32 or dtype == torch.float64
    if distribution == "uniform":
        body = f"return uniform({_WORDS if is_wide else _WORD});"
    elif distribution == "normal":
        pair = "r" if is_wide else "k & 2 ? r[2] : r[0], k & 2 ? r[3] : r[1]"
        body = f"auto pair = normal2({pair}); return k & 1 ? pair[1] : pair[0];"
    else:
        bits, type = (_WORDS, "u64") if is_wide else (_WORD, "u32")
        body = f"return (i64)({low % (1 << 64)}ul + to_range({bits}, ({type}){count}ul));"
    return DeviceExpression((_WIDE if is_wide else _NARROW).replace("BODY", body))


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
