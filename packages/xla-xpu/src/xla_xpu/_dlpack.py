"""DLPack both ways: JAX arrays on xpu and tensors of PyTorch, dpctl and others share memory.

Nothing waits: what another library queues on the stream it is on comes after what JAX has queued, and
the reverse.
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
    """Teaches JAX that DLPack's oneAPI device is xpu, for imports and for exports."""
    jax_dlpack._DL_DEVICE_TO_PLATFORM[ONEAPI] = "xpu"
    if hasattr(ArrayImpl.__dlpack__, "__wrapped__"):
        return
    ArrayImpl.__dlpack__ = _or_jax(ArrayImpl.__dlpack__, export)
    ArrayImpl.__dlpack_device__ = _or_jax(ArrayImpl.__dlpack_device__, device_of)
    _no_streams_to_name()


def _or_jax(original: Any, ours: Any) -> Any:
    """``ours`` for arrays on xpu, what JAX does for all others."""

    @functools.wraps(original)
    def method(self: Any, **arguments: Any) -> Any:
        # Not self.platform(): jaxlib crashes there when the array is deleted.
        self._check_if_deleted()
        place = place_of(self.sharding)
        return ours(self, **arguments) if place else original(self, **arguments)

    return method


def _no_streams_to_name() -> None:
    """JAX asks the device for a stream to give to the exporter. That there is none is said by an exception of
    C++ otherwise, which takes longer than all the rest."""
    original = jax_dlpack._jax.Device.get_stream_for_external_ready_events

    @functools.wraps(original)
    def stream(self: Any) -> Any:
        return None if self.platform == "xpu" else original(self)

    jax_dlpack._jax.Device.get_stream_for_external_ready_events = stream


@functools.lru_cache(maxsize=256)
def place_of(sharding: jax.sharding.Sharding) -> tuple[tuple[int, int], ...]:
    """The DLPack devices of xpu that arrays so sharded are on; none for other platforms'."""
    devices = [device for device in sharding.device_set if device.platform == "xpu"]
    host = sharding.memory_kind != "device"
    return tuple((CPU, 0) if host else (ONEAPI, device.local_hardware_id) for device in devices)


def device_of(array: jax.Array) -> tuple[int, int]:
    """What ``__dlpack_device__`` returns: memory of the host is the CPU's."""
    place = place_of(array.sharding)
    if len(place) != 1:
        raise BufferError("an array on several devices has no DLPack device; export its shards")
    return place[0]


def export(
    array: jax.Array,
    *,
    stream: Any = None,
    max_version: tuple[int, int] | None = None,
    dl_device: tuple[int, int] | None = None,
    copy: bool | None = None,
) -> Any:
    """What ``__dlpack__`` returns. The memory stays when the array is deleted or donated.

    ``stream`` is not needed: whatever the consumer queues on its current stream comes after the
    array's computation.
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
    """DLPack's code and bits; BufferError for a type it has no code for or packs otherwise."""
    code = _NAMES.get(dtype.name, _KINDS.get(dtype.kind))
    if code is None:
        raise BufferError(f"DLPack has no type for {dtype.name}")
    return code, dtype.itemsize * 8
