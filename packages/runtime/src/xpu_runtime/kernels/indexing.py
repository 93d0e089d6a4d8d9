"""Gathers and scatters: elements chosen by index arrays, read, written or combined."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, Literal

from .._native import C
from .._stream import Stream, current_stream
from ..array import Array, empty

OutOfRange = Literal["fault", "clamp", "drop"]
Number = bool | int | float | complex


class Combiner:
    """How a scatter brings a value to an element: an associative C++ expression.

    ``combine`` speaks of ``a``, what is there, and ``b``, what comes, both of type ``T``: the
    arithmetic type of the dtype.

    >>> bits = Combiner("bits", "a | b")
    >>> scatter(out, 0, index, src, bits)
    """

    def __init__(
        self, name: str, combine: str, *, headers: Sequence[str] = ("math", "integer")
    ) -> None:
        self._combiner = C.Combiner(name, combine, list(headers))


#: ``replace``, ``add``, ``multiply``, ``minimum``, ``maximum`` (a NaN stays), or one of your own.
Combine = Literal["replace", "add", "multiply", "minimum", "maximum"] | Combiner


def _combiner(combine: Combine) -> Any:
    if isinstance(combine, Combiner):
        return combine._combiner
    return C.combiner(getattr(C.Combine, combine))


def _options(out_of_range: OutOfRange, deterministic: bool = False) -> Any:
    return C.IndexOptions(getattr(C.OutOfRange, out_of_range), deterministic)


def gather(
    out: Array,
    x: Array,
    dim: int,
    index: Array,
    *,
    out_of_range: OutOfRange = "fault",
    stream: Stream | None = None,
) -> None:
    """Enqueue ``out[i, j] = x[i, index[i, j]]`` (for ``dim=1``)."""
    stream = stream or current_stream(out.device)
    C.gather(stream, out, x, dim, index, _options(out_of_range))


def index_select(
    out: Array,
    x: Array,
    dim: int,
    index: Array,
    *,
    out_of_range: OutOfRange = "fault",
    stream: Stream | None = None,
) -> None:
    """Enqueue ``out`` = ``x`` with ``dim`` replaced by the dimensions of ``index``: rows of an embedding."""
    stream = stream or current_stream(out.device)
    C.index_select(stream, out, x, dim, index, _options(out_of_range))


def index(
    x: Array,
    indices: Sequence[Array | None],
    out: Array | None = None,
    *,
    out_of_range: OutOfRange = "fault",
    stream: Stream | None = None,
) -> Array:
    """Enqueue ``x[indices]`` and return it; None takes all of a dimension, negative indices wrap."""
    stream = stream or current_stream(x.device)
    if out is None:
        out = empty(C.index_shape(x.device, x, indices), x.dtype, stream)
    C.index(stream, out, x, indices, _options(out_of_range))
    return out


def scatter(
    out: Array,
    dim: int,
    index: Array,
    src: Array | Number,
    combine: Combine = "replace",
    *,
    out_of_range: OutOfRange = "fault",
    deterministic: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue ``out[i, index[i, j]] = combine(out[i, index[i, j]], src[i, j])`` (for ``dim=1``).

    ``deterministic`` gives the same bits every run, and of several writes the last.
    """
    stream = stream or current_stream(out.device)
    options = _options(out_of_range, deterministic)
    C.scatter(stream, out, dim, index, src, _combiner(combine), options)


def scatter_mean(
    out: Array,
    dim: int,
    index: Array,
    src: Array,
    *,
    include_self: bool = True,
    out_of_range: OutOfRange = "fault",
    deterministic: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue the mean of what comes to each element, and of what was there with ``include_self``."""
    stream = stream or current_stream(out.device)
    options = _options(out_of_range, deterministic)
    C.scatter_mean(stream, out, dim, index, src, include_self, options)


def index_combine(
    out: Array,
    dim: int,
    index: Array,
    src: Array,
    combine: Combine = "add",
    *,
    out_of_range: OutOfRange = "fault",
    deterministic: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue ``out[index[i]] = combine(out[index[i]], src[i])`` (for ``dim=0``)."""
    stream = stream or current_stream(out.device)
    options = _options(out_of_range, deterministic)
    C.index_combine(stream, out, dim, index, src, _combiner(combine), options)


def embedding_backward(
    grad_weight: Array,
    grad: Array,
    index: Array,
    padding_index: int | None = None,
    *,
    deterministic: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue ``grad_weight`` = the sum of the rows of ``grad`` at their index, but ``padding_index``."""
    stream = stream or current_stream(grad.device)
    options = _options("fault", deterministic)
    C.embedding_backward(stream, grad_weight, grad, index, padding_index, options)


def index_put(
    x: Array,
    indices: Sequence[Array | None],
    values: Array,
    combine: Combine = "replace",
    *,
    out_of_range: OutOfRange = "fault",
    deterministic: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue ``x[indices] = combine(x[indices], values)``; ``values`` broadcast."""
    stream = stream or current_stream(x.device)
    options = _options(out_of_range, deterministic)
    C.index_put(stream, x, indices, values, _combiner(combine), options)


def gather_slices(
    out: Array,
    operand: Array,
    start_indices: Array,
    slice_sizes: Sequence[int],
    *,
    offset_dims: Sequence[int],
    collapsed_slice_dims: Sequence[int] = (),
    operand_batching_dims: Sequence[int] = (),
    start_indices_batching_dims: Sequence[int] = (),
    start_index_map: Sequence[int],
    index_vector_dim: int,
    stream: Stream | None = None,
) -> None:
    """Enqueue XLA's gather, in StableHLO's words: starts out of range are clamped."""
    C.gather_slices(
        stream or current_stream(out.device), out, operand, start_indices, offset_dims,
        collapsed_slice_dims, operand_batching_dims, start_indices_batching_dims, start_index_map,
        index_vector_dim, slice_sizes,
    )  # fmt: skip


def scatter_slices(
    out: Array,
    scatter_indices: Array,
    updates: Array,
    combine: Combine = "replace",
    *,
    update_window_dims: Sequence[int],
    inserted_window_dims: Sequence[int] = (),
    input_batching_dims: Sequence[int] = (),
    scatter_indices_batching_dims: Sequence[int] = (),
    scatter_dims_to_operand_dims: Sequence[int],
    index_vector_dim: int,
    deterministic: bool = False,
    stream: Stream | None = None,
) -> None:
    """Enqueue XLA's scatter into ``out``, in StableHLO's words: windows out of range are dropped."""
    C.scatter_slices(
        stream or current_stream(out.device), out, scatter_indices, updates, update_window_dims,
        inserted_window_dims, input_batching_dims, scatter_indices_batching_dims,
        scatter_dims_to_operand_dims, index_vector_dim, _combiner(combine), deterministic,
    )  # fmt: skip
