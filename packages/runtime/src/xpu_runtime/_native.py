"""Loads the native module, and says what is wrong when it cannot be loaded."""

from __future__ import annotations

import atexit
import ctypes
import importlib.metadata
from typing import Any


def _preload_vendor_libraries() -> None:
    # The wheels put their libraries in the environment's lib folder, where the native module looks. An
    # install with --user or --target puts them elsewhere: then they are loaded by the path on record.
    for distribution, library in (("intel-sycl-rt", "libsycl.so.9"), ("onednn", "libdnnl.so.3")):
        for path in importlib.metadata.files(distribution) or ():
            if path.name == library:
                ctypes.CDLL(str(path.locate()), mode=ctypes.RTLD_GLOBAL)


def _load() -> Any:
    try:
        from . import _C
    except ImportError as first:
        try:
            _preload_vendor_libraries()
            from . import _C
        except (ImportError, OSError, importlib.metadata.PackageNotFoundError) as second:
            raise ImportError(
                f"xpu_runtime cannot load its native module: {first}. The libraries of the wheels "
                f"intel-sycl-rt and onednn were looked for too: {second}. "
                "Run: python -m pip install --force-reinstall xpu-runtime"
            ) from first
    return _C


def _drain_at_exit() -> None:
    from .process import drain_at_exit

    drain_at_exit()


C: Any = _load()
atexit.register(_drain_at_exit)
