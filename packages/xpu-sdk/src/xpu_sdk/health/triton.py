"""Check that Triton, if it is installed, is the stock package in a version that xpu supports."""

from __future__ import annotations

import importlib.util
import sys
from collections.abc import Iterator
from pathlib import Path

from .. import system_info
from .finding import Finding

# The first version of Triton that each minor version of PyTorch is tested with.
OF_TORCH = {"2.13": "3.7.1", "2.14": "3.8.0", "2.15": "3.9.0"}


def check() -> Iterator[Finding]:
    """Check Triton's files and version, without importing it."""
    version, fork = system_info.version("triton"), system_info.version("triton-xpu")
    torch = system_info.version("torch") or ""
    wanted = OF_TORCH.get(_minor(torch))
    requirement = f"triton~={wanted}" if wanted else "triton>=3.7.1,<3.10"
    install = f'{sys.executable} -m pip install --force-reinstall --no-deps "{requirement}"'
    supported = [_minor(one) for one in OF_TORCH.values()]
    if fork or _has_files_of_a_fork():
        found = f"triton-xpu {fork or ''}".strip() + " has put its files over those of stock Triton"
        fix = f"{sys.executable} -m pip uninstall --yes triton-xpu triton; {install}"
        yield Finding("triton", "fail", f"{found}: kernels of @triton.jit do not run on xpu", fix)
    elif version and _minor(version) not in supported:
        found = f"{version}, but kernels of @triton.jit run on xpu with {', '.join(supported)}"
        yield Finding("triton", "note", found, install)
    elif version and wanted and _minor(version) != _minor(wanted):
        found = f"{version}, but torch {torch} is tested with Triton {_minor(wanted)}"
        yield Finding("triton", "note", found, install)
    elif version:
        yield Finding("triton", "ok", version)


def _minor(version: str) -> str:
    return ".".join(version.split(".")[:2])


def _has_files_of_a_fork() -> bool:
    """Return True if Triton's package has a backend for Intel GPUs of its own."""
    spec = importlib.util.find_spec("triton")
    folders = spec.submodule_search_locations if spec else None
    return any((Path(folder) / "backends" / "intel").exists() for folder in folders or ())
