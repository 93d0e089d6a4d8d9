"""C++ files of the runtime that its library does not export, compiled with a C interface for tests."""

import ctypes
import hashlib
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[1]


def private_library(interface: str, *parts: str) -> ctypes.CDLL:
    """Return the library of ``interface``, a path below the tests, which includes ``parts`` of ``csrc``."""
    native_library = pytest.importorskip("xpu_bench").native_library
    content = b"".join((ROOT / "csrc" / part).read_bytes() for part in parts)
    includes = (f"-I{ROOT / 'csrc'}", f"-I{ROOT / 'include'}")
    version = (
        f"-DVERSION={hashlib.sha256(content).hexdigest()}"  # libraries are cached by their flags
    )
    return native_library(ROOT / "tests" / interface, (), ("-O1", *includes, version))
