"""Kernels from SYCL source, compiled at run time and cached."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

from ._native import C
from ._stream import Stream, current_stream

if TYPE_CHECKING:

    class Kernel:
        """A kernel of one device, unloaded when nothing refers to it."""

        name: str
        device: int
        max_work_group_size: int

        def resources(self) -> dict[str, int | None]:
            """Return what the kernel takes of its device; None for what the driver does not tell."""

        def occupancy(self, work_group_size: int) -> float | None:
            """Return the part of the device's hardware threads that such work-groups can use."""

    class Launcher:
        """Launches a kernel whose arguments' types are fixed."""

        def __init__(self, kernel: Kernel, types: str) -> None: ...
        def __call__(
            self,
            global_size: int | Sequence[int],
            local_size: int | Sequence[int],
            *arguments: Any,
            stream: Stream | int | None = None,
        ) -> None:
            """Enqueue the kernel."""
else:
    Kernel, Launcher = C.Kernel, C.Launcher


class Module:
    """Source of one or more kernels, for one device."""

    def __init__(
        self, source: str, options: Sequence[str], device: int, sub_group_size: int | None = None
    ) -> None:
        self.source, self.options, self.device = source, list(options), device
        self.sub_group_size = sub_group_size

    def kernel(self, name: str) -> Kernel:
        """Return the kernel of this name; built at the first call unless a cache has it."""
        return C.build_kernel(
            self.device, self.source, name, self.options, self.sub_group_size or 0
        )

    def spirv(self) -> bytes:
        """Return the portable SPIR-V."""
        return C.build_spirv(self.device, self.source, self.options, self.sub_group_size or 0)


def compile(
    source: str,
    options: Sequence[str] = (),
    device: int | None = None,
    *,
    sub_group_size: int | None = None,
) -> Module:
    """SYCL C++ source as a module. `#include <xpu/NAME.h>` brings in files of the device library.

    Kernels require the sub-group size, by default the device's `sub_group_size`.
    """
    device = C.current_device() if device is None else device
    return Module(source, options, device, sub_group_size)


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
    """Enqueue the kernel.

    Arguments are tensors and arrays of every framework, numpy scalars (of known width), or bytes for structs.
    `Launcher` is faster for a kernel that is launched often.
    """
    C.launch(stream or current_stream(kernel.device), kernel, global_size, local_size, args)


def prestart_build_helpers(device: int | None = None) -> None:
    """Start helper processes early, for threads that are about to build kernels. Does not wait for them."""
    C.prestart_build_helpers(C.current_device() if device is None else device)


def register_tensor_type(type: type, address_of: Callable[[Any, Stream], tuple[int, int]]) -> None:
    """Let launches take objects of a framework's type as arguments.

    ``address_of(tensor, stream)`` returns the address and device of a tensor, -1 for host memory, and makes
    later work of the stream wait for what the framework has enqueued on the tensor.
    """
    C.register_tensor_type(type, address_of)


@contextlib.contextmanager
def dry_run() -> Iterator[None]:
    """Return a `with` block in which the calling thread's work only selects and builds kernels.

    Device memory is neither read nor written. Blocks nest.
    """
    C.enter_dry_run()
    try:
        yield
    finally:
        C.exit_dry_run()
