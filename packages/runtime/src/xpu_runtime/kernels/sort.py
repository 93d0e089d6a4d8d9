"""Sorts and selections along a dimension."""

from __future__ import annotations

from collections.abc import Sequence

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array


def sort(
    values: Array | None,
    indices: Array | None,
    x: Array,
    dim: int = -1,
    *,
    descending: bool = False,
    total_order: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue the sorted elements of ``x`` and their positions (i64 or i32); equal elements stay in order.

    Either output may be None; ``values`` may be ``x``. NaN is the greatest and equal to NaN, -0 equal
    to 0. With ``total_order`` all bit patterns of floats differ: negative NaNs come first, -0 before 0.
    Values alone are faster; then -0 comes before 0, and every NaN is the same one.
    """
    stream = stream or current_stream(x.device)
    C.sort(stream, values, indices, x, dim, descending, total_order)


def topk(
    values: Array | None,
    indices: Array | None,
    x: Array,
    k: int,
    dim: int = -1,
    *,
    largest: bool = True,
    sorted: bool = True,
    stream: Stream | None = None,
) -> None:
    """Enqueue the ``k`` largest or smallest elements of ``x`` and their positions (i64 or i32).

    Either output may be None. NaN is the greatest; of equal elements the first ones are taken. With
    ``sorted`` the best comes first.
    """
    stream = stream or current_stream(x.device)
    C.topk(stream, values, indices, x, k, dim, largest, sorted)


class ComparisonSort:
    """A sort of several operands together, by a C++ expression in the device library's language.

    ``less`` says whether element ``a`` goes before element ``b``: it speaks of ``a0`` and ``b0``, the
    first operand's values, of ``a1`` and ``b1``, and so on. Narrow floats are floats there.

    >>> by_length = ComparisonSort("by_length", "a0 * a0 + a1 * a1 < b0 * b0 + b1 * b1")
    >>> by_length([x_sorted, y_sorted], [x, y], dim=0)
    """

    def __init__(
        self, name: str, less: str, *, headers: Sequence[str] = ("math", "integer")
    ) -> None:
        self._sort = C.ComparisonSort(name, less, list(headers))

    def __call__(
        self,
        outs: Sequence[Array],
        operands: Sequence[Array],
        dim: int = -1,
        *,
        stream: Stream | None = None,
    ) -> None:
        """Enqueue the sort; elements of which neither goes before the other stay in their order."""
        stream = stream or current_stream(*(x.device for x in operands[:1]))
        self._sort(stream, outs, operands, dim)
