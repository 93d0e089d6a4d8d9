"""Fourier transforms along a dimension."""

from __future__ import annotations

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array


def fft(
    out: Array,
    x: Array,
    dim: int = -1,
    *,
    inverse: bool = False,
    scale: float = 1.0,
    stream: Stream | None = None,
) -> None:
    """Enqueue the transform of each line of ``x`` along ``dim``, of any length, times ``scale``.

    Complex to complex keeps the shape. Real to complex gives the first ``n // 2 + 1`` elements of
    each line; complex to real, with ``inverse``, takes these, ``n`` being the size of ``out``. The
    inverse does not divide by ``n`` by itself.
    """
    C.fft(stream or current_stream(out.device), out, x, dim, inverse, scale)
