"""A typed, strided array on a device: enough to feed kernels and to look at results; not a numpy."""

from __future__ import annotations

import math
from collections.abc import Sequence
from functools import cached_property
from typing import Any

import numpy as np

from ._native import C
from ._stream import Stream, current_stream
from .codegen.elements import ELEMENTS
from .errors import UsageError

# numpy has no bf16 or fp8: their host side is the bits in an unsigned integer.
_NUMPY = {
    element.name: np.dtype(getattr(np, element.numpy_name, f"u{element.size}"))
    for element in ELEMENTS.values()
    if element.is_dtype
}
_NAMES = {v: k for k, v in reversed(_NUMPY.items())}


class _Buffer:
    """Owns one block of device memory."""

    pointer = 0

    def __init__(self, nbytes: int, stream: Stream) -> None:
        self.nbytes = nbytes
        self.pointer = C.allocate(nbytes, stream)

    def __del__(self) -> None:
        if C is not None and self.pointer:
            C.deallocate(self.pointer)


def bf16_bits(values: np.ndarray) -> np.ndarray:
    """Return the 16 bits of float32 rounded to the nearest bf16, ties to even."""
    bits = np.asarray(values, np.float32, order="C").view(np.uint32)
    rounded = (bits + 0x7FFF + ((bits >> 16) & 1)) >> 16
    return np.where(np.isnan(values), 0x7FC0, rounded).astype(np.uint16)


def bf16_values(bits: np.ndarray) -> np.ndarray:
    """Return the float32 that 16 bits of bf16 stand for."""
    return (np.asarray(bits).astype(np.uint32) << 16).view(np.float32)


class Array:
    """Device memory with a dtype name ("f32", "bf16", ...), a shape and strides in elements."""

    def __init__(
        self,
        buffer: _Buffer,
        dtype: str,
        shape: Sequence[int],
        strides: Sequence[int],
        offset: int,
        device: int,
    ) -> None:
        self._buffer, self.dtype, self.device, self.offset = buffer, dtype, device, offset
        self.shape, self.strides = tuple(shape), tuple(strides)

    @property
    def pointer(self) -> int:
        """Address of the first element."""
        return self._buffer.pointer + self.offset * self.itemsize

    @cached_property
    def _tensor(self) -> Any:
        return C.Tensor(self.pointer, self.dtype, self.shape, self.strides, self.device)

    @property
    def itemsize(self) -> int:
        """Bytes of an element."""
        return np.dtype(_NUMPY[self.dtype]).itemsize

    @property
    def size(self) -> int:
        """Elements in all."""
        return math.prod(self.shape)

    @property
    def nbytes(self) -> int:
        """Bytes of all elements."""
        return self.size * self.itemsize

    @property
    def contiguous(self) -> bool:
        """True when the elements lie one after another, row-major."""
        return self.size == 0 or self.strides == _row_major(self.shape)

    def view(self, shape: Sequence[int], strides: Sequence[int], offset: int = 0) -> Array:
        """Return the same memory with another shape and strides, which must stay inside it."""
        shape, strides = tuple(shape), tuple(strides)
        if len(shape) != len(strides) or any(n < 0 for n in shape):
            raise UsageError(
                f"view: got shape {shape} and strides {strides}, expected as many of each, sizes >= 0"
            )
        first = last = self.offset + offset
        if math.prod(shape):
            steps = [(n - 1) * stride for n, stride in zip(shape, strides, strict=True)]
            first, last = (
                first + sum(s for s in steps if s < 0),
                last + sum(s for s in steps if s > 0) + 1,
            )
        whole = self._buffer.nbytes // self.itemsize
        if first < 0 or last > whole:
            raise UsageError(
                f"view: shape {shape}, strides {strides}, offset {offset} reach elements {first} to "
                f"{last - 1} of memory that holds {whole}"
            )
        return Array(self._buffer, self.dtype, shape, strides, self.offset + offset, self.device)

    def reinterpret(self, dtype: str) -> Array:
        """Return the same bytes as a one-dimensional array of another dtype."""
        size, first = np.dtype(_NUMPY[dtype]).itemsize, self.offset * self.itemsize
        if not self.contiguous or self.nbytes % size or first % size:
            raise UsageError(
                f"reinterpret: {self!r} is not contiguous or does not hold whole elements of {dtype}"
            )
        return Array(self._buffer, dtype, (self.nbytes // size,), (1,), first // size, self.device)

    def transpose(self, *axes: int) -> Array:
        """Return the same memory with its axes in another order, reversed by default."""
        order = axes or tuple(reversed(range(len(self.shape))))
        return self.view([self.shape[a] for a in order], [self.strides[a] for a in order])

    def numpy(self, stream: Stream | None = None) -> np.ndarray:
        """Return a copy on the host, after all work enqueued on the stream. bf16 comes back as float32."""
        if not self.contiguous:
            raise UsageError(
                f"numpy() copies contiguous arrays; strides are {self.strides} for shape {self.shape}"
            )
        host: np.ndarray = np.empty(self.shape, _NUMPY[self.dtype])
        stream = stream or current_stream(self.device)
        stream.synchronize()  # can be interrupted, while nothing is on its way to the host's memory
        C.copy(stream, host.ctypes.data, self.pointer, host.nbytes)
        stream.synchronize()
        return bf16_values(host) if self.dtype == "bf16" else host

    def copy_from(self, values: np.ndarray, stream: Stream | None = None) -> Array:
        """Overwrite the elements; wait until the host memory is free again."""
        host = _host(values, self.dtype)
        if host.shape != self.shape or not self.contiguous:
            raise UsageError(
                f"copy_from: got shape {host.shape}, expected {self.shape} and a contiguous array"
            )
        stream = stream or current_stream(self.device)
        C.copy(stream, self.pointer, host.ctypes.data, host.nbytes)
        stream.synchronize()
        return self

    def __repr__(self) -> str:
        return f"<xpu array {self.dtype}{list(self.shape)} on device {self.device}>"


def _row_major(shape: Sequence[int]) -> tuple[int, ...]:
    return tuple(math.prod(shape[i + 1 :]) for i in range(len(shape)))


def _host(values: np.ndarray, dtype: str) -> np.ndarray:
    if dtype == "bf16" and values.dtype != np.uint16:
        return bf16_bits(values)
    return np.asarray(values, _NUMPY[dtype], order="C")  # keeps a scalar a scalar


def empty(shape: Sequence[int] | int, dtype: str = "f32", stream: Stream | None = None) -> Array:
    """Return an array with uninitialized elements."""
    if dtype not in _NUMPY:
        raise UsageError(f"dtype: got {dtype!r}, expected one of {', '.join(_NUMPY)}")
    shape = (shape,) if isinstance(shape, int) else tuple(shape)
    if any(n < 0 for n in shape):
        raise UsageError(f"shape: got {shape}, expected sizes >= 0")
    stream = stream or current_stream()
    nbytes = math.prod(shape) * np.dtype(_NUMPY[dtype]).itemsize
    return Array(_Buffer(nbytes, stream), dtype, shape, _row_major(shape), 0, stream.device)


def zeros(shape: Sequence[int] | int, dtype: str = "f32", stream: Stream | None = None) -> Array:
    """Return an array with all bits zero."""
    array = empty(shape, dtype, stream)
    if array.nbytes:
        C.fill_bytes(stream or current_stream(array.device), array.pointer, 0, array.nbytes)
    return array


def from_numpy(values: np.ndarray, dtype: str | None = None, stream: Stream | None = None) -> Array:
    """Return a copy on the device. `dtype` converts on the host; "bf16" takes floats, or uint16 as bits."""
    values = np.asarray(values)
    name = dtype or _NAMES.get(values.dtype)
    if name is None:
        raise UsageError(
            f"dtype: numpy's {values.dtype} has no counterpart; pass one of {', '.join(_NUMPY)}"
        )
    return empty(values.shape, name, stream).copy_from(values, stream)
