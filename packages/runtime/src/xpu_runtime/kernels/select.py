"""Elements chosen by a mask: where they are, bringing them together, putting values in their places."""

from __future__ import annotations

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array, empty


def nonzero(
    x: Array, out: Array | None = None, dtype: str = "i64", stream: Stream | None = None
) -> Array:
    """Return the indices of the elements that are not zero, a row each, in row-major order.

    Waits to learn how many there are, unless given ``out``, of shape ``[rows, dimensions]``: then
    elements past its rows are left out, and rows past the elements left alone.
    """
    stream = stream or current_stream(x.device)
    selection = C.Selection(stream, x)
    if out is None:
        out = empty((selection.count(), len(x.shape)), dtype, stream)
    selection.positions(out)
    return out


def masked_select(
    x: Array, mask: Array, out: Array | None = None, stream: Stream | None = None
) -> Array:
    """Return the elements of ``x``, which broadcasts, where ``mask`` is not zero, in row-major order.

    Waits to learn how many there are, unless given ``out``, of one dimension, which is filled as
    far as it goes.
    """
    stream = stream or current_stream(x.device)
    selection = C.Selection(stream, mask)
    if out is None:
        out = empty(selection.count(), x.dtype, stream)
    selection.gather(out, x)
    return out


def masked_scatter(out: Array, mask: Array, source: Array, stream: Stream | None = None) -> None:
    """Enqueue: where ``mask``, of the shape of ``out``, is not zero, take the next element of ``source``."""
    C.Selection(stream or current_stream(out.device), mask).scatter(out, source)
