"""The functions of ``torch._C`` that ``torch.xpu`` needs and the stock wheel does not have."""

from __future__ import annotations

import atexit
import importlib
import os
import warnings
from typing import Any

import torch

from . import (
    _allocators,
    _bridge,
    _comm,
    _cuda_wheel,
    _dlpack,
    _exit,
    _grad_scaler,
    _graphs,
    _history,
    _inductor,
    _lstm,
    _mem_pool,
    _memory,
    _nested,
    _process_groups,
    _profiler,
    _properties,
    _sharing,
    _sleep,
    _streams,
)

# The process that loaded the runtime: a forked child sees that it is another one.
_initialized_in: int | None = None


def _init() -> None:
    global _initialized_in
    _bridge.load()
    from . import _device

    _initialized_in = os.getpid()
    torch.xpu._get_device_properties = _properties.properties
    torch.xpu.default_generators = _device.default_generators()
    _nested.install()
    _grad_scaler.install()


def _in_bad_fork() -> bool:
    return _initialized_in is not None and _initialized_in != os.getpid()


def _device_count() -> int:
    # torch.xpu.is_available() never raises: warn about the error and report no device.
    import xpu_runtime

    try:
        return xpu_runtime.device_count()
    except (ImportError, xpu_runtime.Error) as why:
        warnings.warn(f"xpu is not available: {why}", stacklevel=3)
        return 0


def _is_available() -> bool:
    """Return True if this process can use a device, which one that was forked after the first use cannot."""
    return not _in_bad_fork() and torch.xpu.device_count() > 0


def _synchronize(device: int) -> None:
    from . import _device

    _device.synchronize(_bridge.current_device() if device < 0 else device)


def _can_access_peer(device: int, peer: int) -> bool:
    from . import _device

    return _device.can_access_peer(device, peer)


def _set_device(device: int) -> None:
    _bridge.exchange_device(device)


def _end() -> None:
    if _bridge.is_loaded():
        _exit.end()


def _is_capturing() -> bool:
    from . import _device

    device = _bridge.current_device()
    return _bridge.is_loaded() and _device.is_capturing(device, _device.current_stream(device))


_NAMES: dict[str, Any] = {
    "_has_xpu": True,
    "_XpuDeviceProperties": _properties._XpuDeviceProperties,
    "_XpuStreamBase": _streams._XpuStreamBase,
    "_XpuEventBase": _streams._XpuEventBase,
    "_xpu_init": _init,
    "_xpu_isInBadFork": _in_bad_fork,
    "_xpu_getDeviceCount": _device_count,
    "_xpu_getDevice": _bridge.current_device,
    "_xpu_setDevice": _set_device,
    "_xpu_exchangeDevice": _bridge.exchange_device,
    "_xpu_maybeExchangeDevice": _bridge.exchange_device,
    "_xpu_canDeviceAccessPeer": _can_access_peer,
    "_xpu_getArchFlags": lambda: None,
    "_xpu_synchronize": _synchronize,
    "_xpu_sleep": _sleep.sleep,
    "_xpu_getCurrentStream": _streams.current_stream,
    "_xpu_getCurrentRawStream": _streams.raw_stream,
    "_xpu_setStream": _streams.set_stream,
    "_xpu_getStreamFromExternal": _streams.external_stream,
    "_xpu_isCurrentStreamCapturing": _is_capturing,
    "_xpu_emptyCache": _memory.empty_cache,
    "_xpu_memoryStats": _memory.stats,
    "_xpu_resetPeakMemoryStats": _memory.reset_peak,
    "_xpu_resetAccumulatedMemoryStats": _memory.reset_accumulated,
    "_xpu_getMemoryInfo": _memory.info,
    "_xpu_getMemoryFraction": _memory.fraction,
    "_xpu_setMemoryFraction": _memory.set_fraction,
    "_xpu_memorySnapshot": _memory.snapshot,
    "_xpu_recordMemoryHistory": _history.record,
    "_XPUGraph": _graphs._XPUGraph,
    "_xpu_graph_pool_handle": _graphs.pool_handle,
    "_xpu_XPUAllocator": _allocators.XPUAllocator,
    "_xpu_customAllocator": _allocators.XPUAllocator,
    "_xpu_changeCurrentAllocator": _allocators.change,
    "_xpu_getAllocator": _allocators.current,
    "_XPUMemPool": _mem_pool._XPUMemPool,
    "_xpu_beginAllocateCurrentThreadToPool": _mem_pool.begin_allocate,
    "_xpu_beginAllocateToPool": _mem_pool.begin_allocate,
    "_xpu_endAllocateToPool": _mem_pool.end_allocate,
    "_xpu_releasePool": lambda device, pool: None,
}


def install() -> None:
    """Set the names in ``torch._C`` and reload the modules of ``torch.xpu``, which keep their identity."""
    # With CUDA these names are CUDA's.
    names = _NAMES if _bridge.coexists_with_cuda else _NAMES | _comm.NAMES
    for name, value in names.items():
        setattr(torch._C, name, value)
    # torch.xpu binds names of its submodules, and these bind some of torch.xpu's.
    for name in ("streams", "graphs", "", "memory", "random", ""):
        importlib.reload(importlib.import_module(f"torch.xpu.{name}".rstrip(".")))
    _profiler.install()
    _dlpack.install()
    _cuda_wheel.install()
    _inductor.install()
    _lstm.install()
    _sharing.install()
    _process_groups.install()
    atexit.register(_end)
    torch.xpu.Stream.__hash__ = _streams.hash_of_stream  # type: ignore[method-assign]
    # PyTorch's own function needs the management library of GPUs, which is rarely installed.
    torch.xpu.device_memory_used = _memory.used
    torch.xpu.is_available = _is_available
    torch.xpu.memory_summary = torch.xpu.memory.memory_summary = _memory.summary
