"""Compile the C++ side of a comparison, for a peer without Python's overhead."""

from __future__ import annotations

import ctypes
import hashlib
import os
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

COMPILE_SECONDS = 300


def native_library(
    source: Path,
    libraries: Sequence[str] = (),
    flags: Sequence[str] = ("-O3", "-march=native", "-fopenmp"),
) -> ctypes.CDLL:
    """Return the shared library of a C++ file, compiled by ``$CXX`` or g++ unless it is cached.

    Headers and ``libraries`` (``sycl``, ``dnnl``, …) are those of the vendor wheels beside this Python.
    """
    prefix = Path(sys.prefix)
    compiler = os.environ.get("CXX", "g++")
    command = [compiler, "-std=c++20", "-shared", "-fPIC", *flags, str(source)]
    command += ["-DSYCL_DISABLE_FSYCL_SYCLHPP_WARNING", f"-isystem{prefix / 'include'}"]
    if libraries:
        command += [f"-L{prefix / 'lib'}", f"-Wl,-rpath,{prefix / 'lib'}"]
        command += [f"-l{name}" for name in libraries] + ["-Wl,--allow-shlib-undefined"]
    key = hashlib.sha256(repr(command).encode() + source.read_bytes()).hexdigest()[:16]
    folder = Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache") / "xpu-bench"
    folder.mkdir(mode=0o700, parents=True, exist_ok=True)
    library = folder / f"{source.stem}-{key}.so"
    if not library.exists():
        partial = library.with_suffix(f".{os.getpid()}")
        subprocess.run([*command, "-o", str(partial)], timeout=COMPILE_SECONDS, check=True)
        partial.rename(library)
    return ctypes.CDLL(str(library))
