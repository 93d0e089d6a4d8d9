"""The native module loads, with exactly one SYCL runtime."""

from __future__ import annotations

import os
import sys
from collections.abc import Iterator
from pathlib import Path

from .finding import Finding
from .probe import ProbeFailed, run_probe

LOADED = """
    import json, xpu_runtime as xr
    xr.device_count()
    print(json.dumps({"abi": xr.abi_version, "paths": xr.library_paths()}))
"""


def check() -> Iterator[Finding]:
    """Load the runtime in a child process and check the libraries that it loaded."""
    reinstall = f"{sys.executable} -m pip install --force-reinstall xpu-runtime"
    try:
        loaded = run_probe(LOADED)
    except ProbeFailed as error:
        yield Finding("runtime", "fail", f"does not start: {error}", reinstall)
        return
    yield Finding("runtime", "ok", f"loads, ABI {loaded['abi']}")
    for name in ("libsycl.so", "libsycl-jit.so", "libdnnl.so"):
        yield _check_library(name, loaded["paths"].get(name, []), reinstall)
    if "ONEAPI_ROOT" in os.environ or "/oneapi/" in os.environ.get("LD_LIBRARY_PATH", ""):
        yield Finding(
            "oneAPI environment",
            "note",
            "an activated oneAPI environment can put a second SYCL runtime before ours",
            "start a shell without setvars.sh, or: unset LD_LIBRARY_PATH ONEAPI_ROOT",
        )


def _check_library(name: str, paths: list[str], reinstall: str) -> Finding:
    if len(paths) == 1:
        return Finding(name, "ok", f"{Path(paths[0]).name} in {Path(paths[0]).parent}")
    if paths:
        fix = "unset LD_LIBRARY_PATH LD_PRELOAD, or remove the package that brings the other"
        return Finding(name, "fail", f"loaded {len(paths)} times: {', '.join(paths)}", fix)
    if name == "libsycl.so":
        return Finding(name, "fail", "not loaded", reinstall)
    return Finding(name, "ok", "loaded when it is first needed")
