"""Kernels from SYCL source, compiled at run time and cached."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

from ._native import C
from ._stream import Stream, current_stream

if TYPE_CHECKING:

    class Kernel:
        """A kernel of one device."""

        name: str
        device: int
        max_work_group_size: int
else:
    Kernel = C.Kernel


class Module:
    """Source of one or more kernels, for one device."""

    def __init__(self, source: str, options: Sequence[str], device: int) -> None:
        self.source, self.options, self.device = source, list(options), device

    def kernel(self, name: str) -> Kernel:
        """Return the kernel of this name; built at the first call unless a cache has it."""
        return C.build_kernel(self.device, self.source, name, self.options)

    def spirv(self) -> bytes:
        """Return the portable SPIR-V."""
        return C.build_spirv(self.device, self.source, self.options)


def compile(source: str, options: Sequence[str] = (), device: int | None = None) -> Module:
    """SYCL C++ source as a module. `#include <xpu/NAME.h>` brings in files of the device library."""
    return Module(source, options, C.current_device() if device is None else device)


def from_spirv(spirv: bytes, name: str, device: int | None = None) -> Kernel:
    """Return a kernel of SPIR-V made elsewhere."""
    return C.kernel_from_spirv(C.current_device() if device is None else device, spirv, name)


def launch(
    kernel: Kernel,
    global_size: int | Sequence[int],
    local_size: int | Sequence[int],
    args: Sequence[Any],
    stream: Stream | None = None,
) -> None:
    """Enqueue the kernel. Arguments are Arrays, numpy scalars (of known width), or bytes for structs."""
    as_tuple = lambda size: (size,) if isinstance(size, int) else tuple(size)  # noqa: E731
    C.launch(
        stream or current_stream(kernel.device),
        kernel,
        as_tuple(global_size),
        as_tuple(local_size),
        args,
    )
