"""DLPack import and export: JAX arrays on xpu share memory with tensors of PyTorch, dpctl and others.

Neither blocks: work that another library enqueues on its current stream runs after the work that JAX has
enqueued, and the reverse.
"""

from __future__ import annotations

import functools
from typing import Any

import jax
import jax._src.dlpack as jax_dlpack
import numpy as np
from jax._src.array import ArrayImpl

from . import _plugin

CPU, ONEAPI = 1, 14
# DLPack's type codes by NumPy's kind of type, and for types that NumPy has from elsewhere.
_KINDS = {"i": 0, "u": 1, "f": 2, "c": 5, "b": 6}
_NAMES = {
    "bfloat16": 4,
    "float8_e3m4": 7,
    "float8_e4m3": 8,
    "float8_e4m3b11fnuz": 9,
    "float8_e4m3fn": 10,
    "float8_e4m3fnuz": 11,
    "float8_e5m2": 12,
    "float8_e5m2fnuz": 13,
    "float8_e8m0fnu": 14,
}


def apply() -> None:
    """Make JAX import and export arrays on DLPack's oneAPI device as arrays on xpu."""
    jax_dlpack._DL_DEVICE_TO_PLATFORM[ONEAPI] = "xpu"
    if hasattr(ArrayImpl.__dlpack__, "__wrapped__"):
        return
    ArrayImpl.__dlpack__ = _or_jax(ArrayImpl.__dlpack__, export)
    ArrayImpl.__dlpack_device__ = _or_jax(ArrayImpl.__dlpack_device__, device_of)
    _skip_stream_query()


def _or_jax(original: Any, ours: Any) -> Any:
    """Return a method that calls ``ours`` for arrays on xpu, and JAX's ``original`` for all others."""

    @functools.wraps(original)
    def method(self: Any, **arguments: Any) -> Any:
        # Not self.platform(): jaxlib crashes there when the array is deleted.
        self._check_if_deleted()
        devices = devices_of(self.sharding)
        return ours(self, **arguments) if devices else original(self, **arguments)

    return method


def _skip_stream_query() -> None:
    """Tell JAX that xpu has no stream to pass to an exporter.

    Otherwise JAX learns it from a C++ exception, which takes longer than the rest of an import.
    """
    original = jax_dlpack._jax.Device.get_stream_for_external_ready_events

    @functools.wraps(original)
    def stream(self: Any) -> Any:
        return None if self.platform == "xpu" else original(self)

    jax_dlpack._jax.Device.get_stream_for_external_ready_events = stream


@functools.lru_cache(maxsize=256)
def devices_of(sharding: jax.sharding.Sharding) -> tuple[tuple[int, int], ...]:
    """Return the DLPack devices of arrays with this sharding; none for other platforms than xpu."""
    devices = [device for device in sharding.device_set if device.platform == "xpu"]
    host = sharding.memory_kind != "device"
    return tuple((CPU, 0) if host else (ONEAPI, device.local_hardware_id) for device in devices)


def device_of(array: jax.Array) -> tuple[int, int]:
    """Return the result of ``__dlpack_device__``: host memory is on DLPack's CPU device."""
    devices = devices_of(array.sharding)
    if len(devices) != 1:
        raise BufferError("an array on several devices has no DLPack device; export its shards")
    return devices[0]


def export(
    array: jax.Array,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """Return the result of ``__dlpack__``, which keeps the memory alive if the array is deleted or donated.

    ``stream`` is not needed: work that the consumer enqueues on its current stream runs after the
    array's computation. Blocks only for arrays in host memory.
    """
    here = device_of(array)
    if dl_device is not None and tuple(dl_device) != here:
        if copy is False or tuple(dl_device) != (CPU, 0):
            raise BufferError(
                f"an array on DLPack device {here} cannot be exported to {tuple(dl_device)}"
                + (" without a copy" if copy is False else "; copy it with jax.device_put first")
            )
        return jax.device_put(array, jax.devices("cpu")[0]).__dlpack__()
    if copy:
        array = jax.numpy.array(array, copy=True)
    if here[0] == CPU:
        array.block_until_ready()
    code, bits = type_of(array.dtype)
    return _plugin.to_dlpack(array.unsafe_buffer_pointer(), array.shape, code, bits, *here)


@functools.cache
def type_of(dtype: np.dtype) -> tuple[int, int]:
    """Return DLPack's code and bits of a type; raise BufferError if DLPack has no code for it."""
    code = _NAMES.get(dtype.name, _KINDS.get(dtype.kind))
    if code is None:
        raise BufferError(f"DLPack has no type for {dtype.name}")
    return code, dtype.itemsize * 8
