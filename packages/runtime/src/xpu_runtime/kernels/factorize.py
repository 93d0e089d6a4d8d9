"""Dense linear algebra on batches of matrices ``[batch, rows, columns]``, changed in place.

Matrices are of f32, f64, c64 or c128 and have any strides; a transposed matrix is a view.
"""

from __future__ import annotations

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array


def solve_triangle(
    a: Array,
    x: Array,
    *,
    upper: bool = False,
    unit: bool = False,
    conjugate: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue replacing ``x`` by the solution of ``a @ solution = x``; the batch of ``a`` may be 1.

    Only one triangle of ``a`` is read; ``unit`` takes its diagonal as ones.
    """
    C.solve_triangle(stream or current_stream(x.device), a, x, upper, unit, conjugate)


def factorize_lu(
    a: Array, pivots: Array, info: Array, *, pivot: bool = True, stream: Stream | None = None
) -> None:
    """Enqueue replacing ``a`` by L and U, with LAPACK's ``pivots`` (i32, ``[batch, min(rows, columns)]``).

    ``info`` (i32, ``[batch]``, zeros before) gets the number of the first pivot that is zero.
    """
    C.factorize_lu(stream or current_stream(a.device), a, pivots, info, pivot)


def factorize_cholesky(a: Array, info: Array, *, stream: Stream | None = None) -> None:
    """Enqueue replacing the lower triangle of ``a`` by L; the rest is undefined.

    ``info`` (i32, ``[batch]``, zeros before) gets the first leading minor that is not positive.
    """
    C.factorize_cholesky(stream or current_stream(a.device), a, info)


def swap_rows(x: Array, pivots: Array, *, back: bool = False, stream: Stream | None = None) -> None:
    """Enqueue exchanging row ``k`` of ``x`` with row ``pivots[k] - 1``, first to last, or ``back``."""
    C.swap_rows(stream or current_stream(x.device), x, pivots, back)


def pivots_to_permutation(
    permutation: Array, pivots: Array, *, stream: Stream | None = None
) -> None:
    """Enqueue the permutation that the swaps of ``pivots`` amount to: i32, ``[batch, rows]``."""
    C.pivots_to_permutation(stream or current_stream(permutation.device), pivots, permutation)


def fill_failed_with_nan(a: Array, info: Array, *, stream: Stream | None = None) -> None:
    """Enqueue a fill with NaN of the matrices whose ``info`` is not zero."""
    C.fill_failed_with_nan(stream or current_stream(a.device), a, info)
