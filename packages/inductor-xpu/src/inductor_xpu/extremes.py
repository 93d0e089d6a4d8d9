"""Positions of maxima and minima on GPUs: eager mode's operators split them, Inductor does not."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from typing import Any

import torch
from torch._inductor.virtualized import V

aten = torch.ops.aten


def register_extremes() -> None:
    """Let Inductor call the operators where a kernel of its own would leave most units idle."""
    from torch._inductor.lowering import fallback_handler, lowerings

    for operator in (aten.argmax.default, aten.argmin.default):
        whole = fallback_handler(operator, add_to_fallback_set=False)
        lowerings[operator] = _lower(lowerings[operator], whole)


def _lower(fused: Callable[..., Any], whole: Callable[..., Any]) -> Callable[..., Any]:
    def lower(x: Any, dim: int | None = None, keepdim: bool = False) -> Any:
        lowering = whole if x.get_device().type == "xpu" and _needs_parts(x, dim) else fused
        return lowering(x, dim, keepdim)

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
