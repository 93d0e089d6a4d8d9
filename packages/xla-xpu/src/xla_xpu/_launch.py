"""JAX arrays, and the buffers of callbacks, as arguments of the runtime's launches."""

from __future__ import annotations

import jax
import xpu_runtime
from jax._src.array import ArrayImpl

from . import _plugin
from ._dlpack import CPU, ONEAPI, devices_of
from .rules.buffer_callbacks import Buffer


def apply() -> None:
    """Let ``xpu_runtime.Launcher`` and ``launch`` take JAX arrays, and what ``buffer_callback`` gives."""
    xpu_runtime.register_tensor_type(ArrayImpl, address_of)
    xpu_runtime.register_tensor_type(Buffer, Buffer.address_for)


def address_of(array: jax.Array, stream: xpu_runtime.Stream) -> tuple[int, int]:
    """Return the array's address and device, -1 for host memory.

    Work that is enqueued on the stream from now on runs after the array's computation, and JAX reuses the
    memory only after that work.
    """
    array._check_if_deleted()  # type: ignore[attr-defined]
    devices = devices_of(array.sharding)
    if len(devices) > 1:
        raise xpu_runtime.UsageError("an array on several devices has no address; pass its shards")
    platform, device = devices[0] if devices else (CPU, 0)
    if platform != ONEAPI:
        return 0, -1
    address = array.unsafe_buffer_pointer()
    if device == stream.device:
        _plugin.order_after_producer(address, stream.handle)
    return address, device
