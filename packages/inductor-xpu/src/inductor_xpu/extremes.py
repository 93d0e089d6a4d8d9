"""Maxima and minima with positions: of elements in any order, and by eager mode's operators on GPUs."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import sympy
import torch
from torch._inductor.ir import Buffer, ReinterpretView
from torch._inductor.virtualized import V, ops

from . import triton_use

aten = torch.ops.aten


def register_extremes() -> None:
    """Let Inductor call the operators where a kernel of its own would leave most units idle."""
    from torch._inductor.lowering import fallback_handler, lowerings

    for operator in (aten.argmax.default, aten.argmin.default):
        whole = fallback_handler(operator, add_to_fallback_set=False)
        lowerings[operator] = _lower(lowerings[operator], whole)
    for both, value, position in (
        (aten.max.dim, aten.amax.default, aten.argmax.default),
        (aten.min.dim, aten.amin.default, aten.argmin.default),
    ):
        lowerings[both] = _apart(lowerings[both], value, position)


def with_positions(x: Any, reduction: dict[str, Any]) -> dict[str, Any]:
    """Let the elements of a reduction have their positions, as Inductor does it for tensors in memory.

    The loops over computed elements follow the memory of their inputs.
    """
    loader, sizes = reduction["inner_fn"], reduction["reduction_ranges"]
    is_in_memory = isinstance(x.data, ReinterpretView) or isinstance(x.data.data, Buffer)
    if is_in_memory or len(sizes) < 2:
        return reduction

    def element(index: Sequence[Any], reduced_index: Sequence[Any]) -> tuple[Any, Any]:
        value = loader(index, reduced_index)
        if isinstance(value, tuple):
            return value
        position = sympy.S.Zero
        for size, along in zip(sizes, reduced_index, strict=True):
            position = position * size + along
        place = ops.index_expr(sympy.expand(position), torch.int64)  # type: ignore[attr-defined]
        return value, place

    return reduction | {"inner_fn": element}


def _lower(fused: Callable[..., Any], whole: Callable[..., Any]) -> Callable[..., Any]:
    def lower(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
        lowering = whole if x.get_device().type == "xpu" and _needs_parts(x, dim) else fused
        return lowering(x, dim, keepdim)

    return lower


def _apart(fused: Callable[..., Any], value: Any, position: Any) -> Callable[..., Any]:
    """Return the lowering of values with positions; for our own loops, two reductions that share a loop."""
    from torch._inductor.lowering import lowerings

    def lower(x: Any, dim: int, keepdim: bool = False) -> Any:
        if x.get_device().type != "xpu" or triton_use.writes_loops():
            return fused(x, dim, keepdim)
        return lowerings[value](x, [dim], keepdim), lowerings[position](x, dim, keepdim)

    return lower


def _needs_parts(x: Any, dim: int | None) -> bool:
    from .reader.targets import target_of
    from .splits import wanted_parts, wanted_parts_of_rows

    target = target_of(x.get_device())
    hint = V.graph.sizevars.optimization_hint
    sizes = [hint(size, fallback=8192) for size in x.get_size()]
    if not target.gpu or 0 in sizes:
        return False
    dims = range(len(sizes)) if dim is None else [dim % max(len(sizes), 1)]
    elements = math.prod(sizes[d] for d in dims if sizes)
    results = math.prod(sizes) // elements
    wanted = wanted_parts if _is_along_columns(x, dims) else wanted_parts_of_rows
    return wanted(results, elements, target) > 1


def _is_along_columns(x: Any, dims: Sequence[int]) -> bool:
    strides = x.maybe_get_stride()
    return strides is not None and not any(strides[dim] == 1 for dim in dims)
