"""Triton's driver for xpu: devices, streams, launches. Imported by ``import triton``.

Triton looks for one class in this module that derives from its base class, and imports it also for users of
other devices: nothing here imports torch, before Triton asks whether there is an xpu.
"""

from __future__ import annotations

import os
from collections.abc import Callable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any

from triton.backends.compiler import GPUTarget
from triton.backends.driver import DriverBase

from .target import BACKEND

if TYPE_CHECKING:
    import torch

# The name of this backend's entry point, which TRITON_DEFAULT_BACKEND may choose.
NAME = "intel"
# The versions of Triton whose interfaces these are.
SUPPORTED = ("3.7", "3.8", "3.9")


class XpuDriver(DriverBase):
    """Launches kernels on the devices that PyTorch calls xpu."""

    def __init__(self) -> None:
        import torch
        import triton

        from .benchmark import clear_cache, empty_cache
        from .launcher import Launcher
        from .loading import Utilities
        from .repeated_launches import speed_up

        version = triton.__version__
        if not version.startswith(tuple(f"{minor}." for minor in SUPPORTED)):
            raise ImportError(
                f"triton {version}: kernels of @triton.jit run on xpu with triton {', '.join(SUPPORTED)}; "
                "install the one that goes with your torch"
            )
        speed_up()
        self.utils = Utilities()
        self.launcher_cls = Launcher
        self.set_current_device = torch.xpu.set_device
        self.get_empty_cache_for_benchmark = empty_cache
        self.clear_cache = clear_cache

    # Each launch calls these two, which are functions of C++. A process that only compiles asks for neither.

    @cached_property
    def get_current_device(self) -> Callable[[], int]:
        """A function that returns the thread's device."""
        from torch_xpu.compiled_code import current_device

        return current_device

    @cached_property
    def get_current_stream(self) -> Callable[[int], int]:
        """A function that returns the handle of the thread's stream on a device, 0 for the default stream."""
        from torch_xpu.compiled_code import current_stream

        return current_stream

    @classmethod
    def is_active(cls) -> bool:
        """Return True if there is an xpu, and no CUDA device unless the environment names this backend."""
        try:
            import torch
        except ImportError:
            return False
        # A forked child, as Inductor's workers are, compiles for the devices that its parent uses.
        if not torch.xpu.is_available() and not torch.xpu._is_in_bad_fork():
            return False
        return os.environ.get("TRITON_DEFAULT_BACKEND") == NAME or not torch.cuda.is_available()

    def map_python_to_cpp_type(self, ty: str) -> str:
        """Return the type of C++ for a type of Triton's."""
        from .argument_types import cpp_type

        return cpp_type(ty)

    def get_current_target(self) -> GPUTarget:
        """Return the description of the current device."""
        import torch

        capability = torch.xpu.get_device_capability()
        return GPUTarget(BACKEND, capability, capability["sub_group_size"])

    def get_active_torch_device(self) -> torch.device:
        """Return the current device."""
        import torch

        return torch.device("xpu", torch.xpu.current_device())

    def get_device_interface(self) -> Any:
        """Return the module with devices, streams and events."""
        import torch

        return torch.xpu

    def get_benchmarker(self) -> Callable[..., float | Sequence[float]]:
        """Return the function that autotuning measures with."""
        from .benchmark import measure

        return measure


# A later version of Triton may have more abstract methods. Triton must still be importable with it, for other
# devices; the constructor then says which version xpu supports.
XpuDriver.__abstractmethods__ = frozenset()
