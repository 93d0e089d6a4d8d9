"""Kernels on their device: built in the background once they are loaded; the first launch waits."""

from __future__ import annotations

from functools import cache
from typing import Any

import torch
import xpu_runtime as xr

from ..builds import load_faults, start_build

_KHZ = 1000


class LoadedKernel:
    """A kernel on a device. A build that failed or was interrupted is tried again at the next launch."""

    __slots__ = ("_build", "device", "faults", "launcher", "name", "source")

    def __init__(self, name: str, source: str, device: int) -> None:
        self.name, self.source, self.device = name, source, device
        # What a launch calls, once it is known; and its arguments behind the kernel's own.
        self.launcher: Any = None
        self.faults: tuple[int, ...] = ()
        self._build = start_build(name, device, source)

    def prepare(self, types: str, faults: tuple[tuple[str, str], ...]) -> Any:
        """Return the runtime's launcher for arguments of these types. Blocks until the kernel is built."""
        if self._build.done() and self._build.exception():
            self._build = start_build(self.name, self.device, self.source)
        if faults:
            self.faults = load_faults(self.device, faults)
        self.launcher = xr.Launcher(self._build.result(), types)
        return self.launcher


class Utilities:
    """What Triton asks of a driver about devices and binaries."""

    @staticmethod
    def load_binary(
        name: str, kernel: bytes, shared: int, device: int
    ) -> tuple[LoadedKernel, LoadedKernel, int, int, int]:
        """Start building a kernel's source; return it, and the number of work-items that the device allows.

        The numbers of registers and of spilled ones are 0: no driver tells them before the first launch.
        """
        items = xr.Device(device).max_work_group_size
        loaded = LoadedKernel(name, kernel.decode(), device)
        return loaded, loaded, 0, 0, items  # the kernel is its module, too

    @staticmethod
    def unload_module(module: LoadedKernel) -> None:
        """Do nothing: the kernel goes with its last reference. Triton asks for it since 3.8."""

    @staticmethod
    @cache
    def get_device_properties(device: int) -> dict[str, Any]:
        """Return the properties of a device by Triton's names; clocks are in kHz."""
        info = xr.Device(device)
        return {
            "max_shared_mem": info.local_memory,
            "multiprocessor_count": info.max_compute_units,
            "max_work_group_size": info.max_work_group_size,
            "sub_group_sizes": info.sub_group_sizes,
            "warpSize": info.sub_group_size,
            "sm_clock_rate": info.max_clock_mhz * _KHZ,
            "mem_clock_rate": info.memory_clock_mhz * _KHZ,
            "mem_bus_width": info.memory_bus_bits,
        }


_accepted: set[type] = set()


def accept_type(value: Any) -> bool:
    """Let launches take objects of a value's type that have ``data_ptr()``, such as Triton's for minifloats.

    Return False if they do already, or if the value is no such object.
    """
    kind = type(value)
    if kind in _accepted or isinstance(value, torch.Tensor) or not hasattr(value, "data_ptr"):
        return False
    _accepted.add(kind)
    xr.register_tensor_type(kind, _address)
    return True


def _address(value: Any, stream: xr.Stream) -> tuple[int, int]:
    """Return the address and the device of an object that wraps a tensor, -1 if it is on the host.

    An object that tells no tensor is taken to be on the stream's device, as Triton does.
    """
    tensor = getattr(value, "base", None)
    if not isinstance(tensor, torch.Tensor):
        return value.data_ptr(), stream.device
    return value.data_ptr(), tensor.device.index if tensor.device.type == "xpu" else -1
