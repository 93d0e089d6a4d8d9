"""Compiles C++ that uses the runtime's public headers, for what Python is too slow to measure."""

from __future__ import annotations

import ctypes
from pathlib import Path

from xpu_bench import native_library


def runtime_library(
    source: str, functions: tuple[str, ...], libraries: tuple[str, ...] = ()
) -> ctypes.CDLL:
    """The library of a C++ file beside this one; its functions return seconds."""
    import xpu_runtime as xr

    xr.device_count()
    package = Path(xr.__file__).parent
    runtime = Path(xr.library_paths()["libxpu_runtime.so"][0])
    flags = ("-O3", f"-I{package / 'include'}", "-Wl,--no-as-needed", str(runtime))
    flags += (f"-Wl,-rpath,{runtime.parent}",)
    loaded = native_library(Path(__file__).parent / source, libraries, flags)
    for name in functions:
        getattr(loaded, name).restype = ctypes.c_double
    return loaded
