"""Compiles C++ that uses the runtime's public headers, to measure costs smaller than Python's own."""

from __future__ import annotations

import ctypes
from pathlib import Path

from xpu_bench import native_library


def runtime_library(
    source: str, functions: tuple[str, ...], libraries: tuple[str, ...] = ()
) -> ctypes.CDLL:
    """Return the library of ``source``, a C++ file beside this one, whose ``functions`` return seconds.

    ``libraries`` are vendor libraries to link: ``sycl``, ``dnnl``.
    """
    import xpu_runtime as xr

    xr.device_count()  # the device stack starts here, so that no measurement includes it
    package = Path(xr.__file__).parent
    runtime = Path(xr.library_paths()["libxpu_runtime.so"][0])
    flags = ("-O3", f"-I{package / 'include'}", "-Wl,--no-as-needed", str(runtime))
    flags += (f"-Wl,-rpath,{runtime.parent}",)
    loaded = native_library(Path(__file__).parent / source, libraries, flags)
    for name in functions:
        getattr(loaded, name).restype = ctypes.c_double
    return loaded
