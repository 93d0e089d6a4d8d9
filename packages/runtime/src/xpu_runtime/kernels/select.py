"""Elements that a mask chooses: their indices, gathering them, and replacing them."""

from __future__ import annotations

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array, empty


def nonzero(
    x: Array, out: Array | None = None, dtype: str = "i64", stream: Stream | None = None
) -> Array:
    """Return the indices of the elements that are not zero: a row for each, in row-major order.

    Without ``out``, waits for the device to count the elements. With ``out``, of shape
    ``[rows, dimensions]``, does not wait: elements beyond its rows are dropped, and rows beyond the
    elements stay unchanged.
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
    """Return the elements of ``x`` where ``mask`` is not zero, in row-major order.

    ``x`` broadcasts to the shape of ``mask``. Without ``out``, waits for the device to count the
    elements. With ``out``, of one dimension, does not wait: elements beyond its end are dropped, and
    the rest of a longer ``out`` stays unchanged.
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
