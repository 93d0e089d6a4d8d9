"""How reductions along columns of memory are split, whose results are too few for all units."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch._inductor import config, dependencies
from torch._inductor.ir import ComputedBuffer, FlexibleLayout, Reduction
from torch._inductor.runtime.hints import ReductionHint
from torch._inductor.virtualized import V
from xpu_runtime.codegen.target import Target

from .reader.targets import target_of

# Of these, positions and parts of a row belong to one kernel.
_WHOLE = ("scan", "dot", "argmax", "argmin")


def split_of(
    device: torch.device,
    dst_dtype: torch.dtype,
    src_dtype: torch.dtype,
    inner_fn: Callable[..., Any],
    ranges: Sequence[Any],
    reduction_ranges: Sequence[Any],
    reduction_type: str,
    reduction_numel: Any,
    input_node: Any = None,
) -> int:
    """Return the number of parts in which a first kernel computes a reduction; 1 if it is not split.

    Parts have equally many rows, so that no load needs a mask.
    """
    count, rows = map(sympy.sympify, (sympy.prod(ranges), reduction_numel))
    if not config.split_reductions or reduction_type.startswith(_WHOLE):
        return 1
    if not (count.is_Integer and rows.is_Integer):
        return 1
    wanted = wanted_parts(int(count), int(rows), target_of(device))
    # Half as many parts, or twice, take about as long.
    parts = [n for n in sympy.divisors(int(rows)) if wanted <= 2 * n and n <= 2 * wanted]
    best = min(parts, key=lambda n: abs(math.log(n / wanted)), default=1)
    if best == 1:
        return 1
    reduction = Reduction(
        device=device,
        dtype=dst_dtype,
        inner_fn=inner_fn,
        ranges=ranges,
        reduction_ranges=reduction_ranges,
        reduction_type=reduction_type,
        src_dtype=src_dtype,
        reduction_hint=ReductionHint.DEFAULT,
    )
    return best if _is_along_columns(reduction) else 1


def wanted_parts(columns: int, rows: int, target: Target) -> int:
    """Return the parts that fill a device, of which none is done before another kernel has started."""
    division = target.division
    width = target.lanes * division.column_vectors
    blocks = -(-columns // width)
    # On the CPU device it is no function of the cores, a setting, which must not change results.
    tiles = target.units * division.tiles_per_unit if target.gpu else 512
    min_elements = 8 * division.max_tile_length * target.lanes
    return max(1, min(-(-tiles // blocks), rows * width // min_elements))


def _is_along_columns(reduction: Reduction) -> bool:
    """Return True if neighboring elements of most inputs belong to different results."""
    layout = FlexibleLayout(reduction.get_device(), reduction.get_dtype(), reduction.get_size())
    reads = ComputedBuffer(name=None, layout=layout, data=reduction).get_read_writes().reads
    (_, folded), sizes = dependencies.index_vars_squeeze(
        reduction.get_size(), reduction.get_reduction_size()
    )
    sizevars, votes = V.graph.sizevars, 0
    for read in reads:
        if not isinstance(read, dependencies.MemoryDep):
            return False
        index = sizevars.simplify_with_ranges(read.index, sizes)
        strides = sizevars.stride_hints(index, folded, list(sizes))
        if any(strides):
            votes += -1 if 1 in strides else 1
    return votes > 0
