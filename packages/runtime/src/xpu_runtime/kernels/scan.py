"""Scans along a dimension: cumulative sums and their like."""

from __future__ import annotations

from collections.abc import Sequence

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array


class Scan:
    """A scan given by C++ expressions in the device library's language.

    ``combine`` speaks of ``a``, the earlier, and ``b``, the later value, both of type ``T``: the
    arithmetic type of the output's dtype. With ``commutes`` they may change places.

    >>> running_max = Scan("running_max", "xpu::maximum(a, b)", "T(-xpu::infinity())")
    >>> running_max(out, x, dim=1)
    """

    def __init__(
        self,
        name: str,
        combine: str,
        identity: str,
        *,
        commutes: bool = False,
        headers: Sequence[str] = ("math", "integer"),
    ) -> None:
        self._scan = C.Scan(name, combine, identity, commutes, list(headers))

    def __call__(
        self,
        out: Array,
        x: Array,
        dim: int,
        *,
        exclusive: bool = False,
        reverse: bool = False,
        stream: Stream | None = None,
    ) -> None:
        """Enqueue the scan of ``x``, converted to the dtype of ``out``."""
        self._scan(stream or current_stream(out.device), out, x, dim, exclusive, reverse)


def cumsum(
    out: Array,
    x: Array,
    dim: int,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue the running sum in the dtype of ``out``; integers wrap."""
    C.cumsum(stream or current_stream(out.device), out, x, dim, exclusive, reverse)


def cumprod(
    out: Array,
    x: Array,
    dim: int,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue the running product in the dtype of ``out``; integers wrap."""
    C.cumprod(stream or current_stream(out.device), out, x, dim, exclusive, reverse)


def logcumsumexp(
    out: Array,
    x: Array,
    dim: int,
    *,
    exclusive: bool = False,
    reverse: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue the logarithm of the running sum of exponentials."""
    C.logcumsumexp(stream or current_stream(out.device), out, x, dim, exclusive, reverse)


def cummax(
    values: Array, indices: Array | None, x: Array, dim: int, stream: Stream | None = None
) -> None:
    """Enqueue the largest so far and, as i64, where it is: the last one of equals. A NaN stays."""
    C.cummax(stream or current_stream(values.device), values, indices, x, dim)


def cummin(
    values: Array, indices: Array | None, x: Array, dim: int, stream: Stream | None = None
) -> None:
    """Enqueue the smallest so far and, as i64, where it is: the last one of equals. A NaN stays."""
    C.cummin(stream or current_stream(values.device), values, indices, x, dim)
