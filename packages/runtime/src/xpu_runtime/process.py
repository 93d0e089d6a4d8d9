"""What is loaded in this process and where from."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable

from ._native import C

#: Raised whenever a public C++ header changes incompatibly; adapters check it when they load.
abi_version: int = C.abi_version


def is_initialized() -> bool:
    """Return True once the device stack has been used in this process."""
    return C.is_initialized()


def generic_backend() -> bool:
    """Return True if only plain SYCL is used: XPU_GENERIC_BACKEND=1, or neither Level Zero nor OpenCL."""
    return C.generic_backend()


def drain_at_exit() -> None:
    """Wait for all device work and report failures. Refuse the work of other threads from then on.

    Runs when the interpreter exits. Other threads that then use a device get an error, which ends them
    without a message. ``XPU_EXIT_TIMEOUT`` bounds the wait; Ctrl-C ends it.
    """
    if not C.is_initialized():
        return
    _drain()
    C.begin_shutdown()
    _silence_refused_threads()
    wait_at_exit(lambda: not C.has_active_threads())
    _drain()


def wait_at_exit(is_done: Callable[[], bool]) -> None:
    """Wait until ``is_done()``, in the time that ``XPU_EXIT_TIMEOUT`` leaves. Ctrl-C ends the wait."""
    while not is_done() and C.wait_for_threads(1):
        pass


def _drain() -> None:
    while not C.drain_for(100):  # signals are handled between two calls
        pass


@functools.cache
def _silence_refused_threads() -> None:
    report = threading.excepthook

    def excepthook(failure: threading.ExceptHookArgs) -> None:
        # Frameworks raise ShuttingDown as errors of their own types, with the same text.
        if C.refusal not in str(failure.exc_value):
            report(failure)

    threading.excepthook = excepthook


def library_paths() -> dict[str, list[str]]:
    """Return the vendor libraries in this process, by name, with the paths they were loaded from."""
    names = (
        "libsycl.so",
        "libdnnl.so",
        "libsycl-jit.so",
        "libur_loader.so",
        "libOpenCL.so",
        "libintelocl.so",
        "libxpu_runtime.so",
    )
    return {name: C.loaded_libraries(name) for name in names}
