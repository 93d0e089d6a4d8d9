"""How reductions are split whose results are too few for all units: a second kernel combines the parts."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
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
# A group computes a row of fewer parts before a second kernel has started.
_MIN_PARTS_OF_ROW = 4


def choose_split(
    stock: tuple[ReductionHint, int],
    device: torch.device,
    dst_dtype: torch.dtype,
    src_dtype: torch.dtype,
    inner_fn: Callable[..., Any],
    ranges: Sequence[Any],
    reduction_ranges: Sequence[Any],
    reduction_type: str,
    reduction_numel: Any,
    input_node: Any = None,
) -> tuple[ReductionHint, int]:
    """Return a hint, and the number of parts that a first kernel computes; 1 if a reduction is not split.

    ``stock`` is Inductor's choice. On GPUs eager mode's replaces it, but for parts of another reduction.
    """
    hint, split = stock
    if not config.split_reductions or reduction_type.startswith(_WHOLE) or split == -1:
        return stock
    target = target_of(device)
    if not target.gpu and stock != (ReductionHint.DEFAULT, 1):
        return stock
    if _is_of_parts(inner_fn):
        return hint, 1
    sizevars = V.graph.sizevars
    numbers = list(map(sympy.sympify, (sympy.prod(ranges), reduction_numel)))
    is_static = all(number.is_Integer for number in numbers)
    if not is_static and not (target.gpu and sizevars.all_unbacked_explicitly_hinted(numbers)):
        return stock
    results, elements = map(sizevars.optimization_hint, numbers)
    if results == 0:
        return stock
    of_columns = wanted_parts(results, elements, target)
    of_rows = wanted_parts_of_rows(results, elements, target) if target.gpu else 1
    if of_columns == of_rows == 1:
        return hint, 1
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
    along_columns = results > 1 and _is_along_columns(reduction)
    parts = of_columns if along_columns else of_rows
    if is_static and parts > 1:
        sizes = list(map(int, reduction_ranges))
        parts = whole_parts(sizes, parts) if target.gpu else even_parts(elements, parts)
    if parts == 1:
        return hint, 1
    return ReductionHint.OUTER if along_columns else ReductionHint.INNER, parts


def _is_of_parts(inner_fn: Callable[..., Any]) -> bool:
    """Return True for the elements of a reduction that has been split."""
    name = getattr(inner_fn, "__qualname__", "")
    return name.startswith("Reduction._multilayer_wrap_loader")


def is_split(x: Any, axis: Any, keepdim: bool) -> bool:
    """Return True if a GPU computes a sum in parts. A second pass would then read all elements again."""
    from torch._inductor.lowering import _make_reduction_inner, _validate_reduction_axis

    if not target_of(x.get_device()).gpu:
        return False
    named = _make_reduction_inner(
        x,
        axis=_validate_reduction_axis(x, axis),
        keepdims=keepdim,
        dtype=None,
        override_return_dtype=None,
    )
    count = sympy.prod(named["reduction_ranges"])
    _, split = Reduction.num_splits(reduction_type="sum", reduction_numel=count, **named)
    return split != 1


def wanted_parts(columns: int, rows: int, target: Target) -> int:
    """Return the parts of columns that fill a device, and are worth a second kernel."""
    division = target.division
    width = target.lanes * division.column_vectors
    if target.gpu and target.is_filled_by(columns // target.lanes):
        return 1
    if target.gpu and columns < width:
        width = target.lanes
    # On the CPU device it is no function of the cores, a setting, which must not change results.
    tiles = target.tiles if target.gpu else 512
    if target.gpu and columns < width:
        # The lanes of a tile belong to several parts.
        wanted = -(-tiles * width // columns)
    else:
        wanted = -(-tiles // -(-columns // width))
    return max(1, min(wanted, rows * width // _min_elements(target)))


def wanted_parts_of_rows(rows: int, columns: int, target: Target) -> int:
    """Return the parts of rows that fill a GPU."""
    parts = columns // _min_elements(target)
    return 1 if parts < _MIN_PARTS_OF_ROW else min(-(-target.tiles // rows), parts)


def _min_elements(target: Target) -> int:
    """Return the elements that a sub-group folds before another kernel has started."""
    return 8 * target.division.max_tile_length * target.lanes


def even_parts(rows: int, wanted: int) -> int:
    """Return the number of parts of equally many rows, so that no load needs a mask; 1 if there is none."""
    # Half as many parts, or twice, take about as long.
    parts = [n for n in sympy.divisors(rows) if wanted <= 2 * n and n <= 2 * wanted]
    return min(parts, key=lambda n: abs(math.log(n / wanted)), default=1)


def whole_parts(sizes: Sequence[int], wanted: int) -> int:
    """Return the least number of parts that are whole dimensions, or equal parts of one; else ``wanted``.

    The lanes then compute neither masks nor coordinates. It is at most twice as large as ``wanted``.
    """
    parts = (n for n in _parts_of(sizes) if wanted <= n <= 2 * wanted)
    return min(parts, default=wanted)


def _parts_of(sizes: Sequence[int]) -> Iterator[int]:
    outer = 1
    for size in sizes:
        yield from (outer * n for n in sympy.divisors(size))
        outer *= size


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
