"""Indices that are known to be in range, so that kernels need not check them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import sympy
from torch.utils._sympy.value_ranges import ValueRanges, bound_sympy


def is_within(bounds: ValueRanges[Any], size: Any) -> bool:
    """Return True if an index with these bounds is in range of a dimension of a fixed size."""
    is_fixed = isinstance(size, int | sympy.Integer)
    return is_fixed and bool(bounds.lower >= 0) and bool(bounds.upper < size)


def are_loops_within(index: sympy.Expr, size: Any, loops: Mapping[sympy.Symbol, Any]) -> bool:
    """Return True if an index of loops of fixed lengths is never out of range."""
    ranges = {}
    for symbol in index.free_symbols:
        length = getattr(loops.get(symbol), "length", None)
        if not isinstance(length, int | sympy.Integer) or length == 0:
            return False
        ranges[symbol] = ValueRanges(0, int(length) - 1)
    return is_within(bound_sympy(index, ranges), size)
