"""Arrays in awkward places: strided views of a device buffer whose every other byte is watched."""

from __future__ import annotations

import ml_dtypes
import numpy as np
from xpu_testing import values_checked

import xpu_runtime as xr
from xpu_runtime._native import C

NUMPY = {
    "bool": np.dtype(bool),
    "u8": np.dtype("u1"),
    "i8": np.dtype("i1"),
    "u16": np.dtype("u2"),
    "i16": np.dtype("i2"),
    "u32": np.dtype("u4"),
    "i32": np.dtype("i4"),
    "u64": np.dtype("u8"),
    "i64": np.dtype("i8"),
    "f16": np.dtype("f2"),
    "bf16": np.dtype(ml_dtypes.bfloat16),
    "f32": np.dtype("f4"),
    "f64": np.dtype("f8"),
    "f8e4m3": np.dtype(ml_dtypes.float8_e4m3fn),
    "f8e5m2": np.dtype(ml_dtypes.float8_e5m2),
    "c64": np.dtype("c8"),
    "c128": np.dtype("c16"),
}
FLOATS = ("f16", "bf16", "f32", "f64")
INTEGERS = ("u8", "i8", "u16", "i16", "u32", "i32", "u64", "i64")
PATTERN = 0xA5
MARGIN = 64


def _element_strides(layout: str, shape: tuple[int, ...]) -> tuple[list[int], int]:
    """Strides in elements and the element that the view begins at, from the lowest address."""
    n = len(shape)
    order = list(range(n))[::-1] if layout == "transposed" else list(range(n))
    padded = [s + 3 if layout == "padded" else s for s in shape]
    step = 2 if layout == "every second" else 1
    strides = [0] * n
    for axis in reversed(order):
        strides[axis] = step
        step *= padded[axis]
    if layout != "reversed":
        return strides, 0
    start = sum((s - 1) * t for s, t in zip(shape, strides, strict=True)) if all(shape) else 0
    return [-t for t in strides], start


LAYOUTS = ("contiguous", "transposed", "every second", "reversed", "padded")


class Placed:
    """A view of ``shape`` in a buffer of known bytes; ``host`` mirrors it, ``array`` is on the device."""

    def __init__(self, shape, dtype: str, layout: str = "contiguous", values=None) -> None:
        self.dtype, self.numpy_dtype, self._shape = dtype, NUMPY[dtype], tuple(shape)
        self._strides, first = _element_strides(layout, self._shape)
        reach = sum((max(s, 1) - 1) * abs(t) for s, t in zip(shape, self._strides, strict=True)) + 1
        margin = MARGIN // self.numpy_dtype.itemsize
        self._start = margin + first
        self._bytes = np.full((reach + 2 * margin) * self.numpy_dtype.itemsize, PATTERN, np.uint8)
        self.host = self._view(self._bytes)
        if values is not None:
            self.host[...] = values
        self._buffer = xr.from_numpy(self._bytes)
        self.array = self._buffer.reinterpret(dtype).view(self._shape, self._strides, self._start)

    def _view(self, data: np.ndarray) -> np.ndarray:
        size = self.numpy_dtype.itemsize
        strides = [t * size for t in self._strides]
        return np.ndarray(self._shape, self.numpy_dtype, data, self._start * size, strides)

    def result(self) -> np.ndarray:
        """What the device has now; every byte outside the view must be as it was."""
        if not values_checked():
            return self.host.copy()
        now = self._buffer.numpy()
        expected = self._bytes.copy()
        self._view(expected)[...] = self._view(now)
        changed = np.flatnonzero(expected != now)
        assert changed.size == 0, f"bytes outside the output changed: {changed[:8]} of {len(now)}"
        return self._view(now).copy()


class Packed:
    """u4 or i4 elements in the bytes of an array, as kernels take them."""

    def __init__(self, stored: xr.Array, dtype: str, count: int) -> None:
        self.device, self._stored = stored.device, stored
        self._tensor = C.Tensor(stored.pointer, dtype, (count,), (1,), stored.device)
