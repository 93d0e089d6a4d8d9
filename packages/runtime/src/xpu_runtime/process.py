"""What is loaded in this process and where from."""

from __future__ import annotations

from ._native import C

#: Raised whenever a public C++ header changes incompatibly; adapters check it when they load.
abi_version: int = C.abi_version


def is_initialized() -> bool:
    """True once the device stack has been used in this process."""
    return C.is_initialized()


def generic_backend() -> bool:
    """True when only plain SYCL is used: XPU_GENERIC_BACKEND=1, or neither Level Zero nor OpenCL."""
    return C.generic_backend()


def wait_for_end() -> None:
    """What the end of the process does first: waits for the devices' work, and says what of it failed.

    From then on other threads of Python's that would queue work stay where they are.
    """
    C.wait_for_end()


def library_paths() -> dict[str, list[str]]:
    """The vendor libraries in this process, by name, with the paths they were loaded from."""
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
