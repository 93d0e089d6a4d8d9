"""The wheels are installed, in the versions that the runtime requires."""

from __future__ import annotations

import importlib.metadata
import platform
import struct
import sys
from collections.abc import Iterator

from packaging.requirements import Requirement

from .. import system_info
from .finding import Finding


def check() -> Iterator[Finding]:
    """Check Python and the platform, then each wheel that the runtime needs."""
    machine = platform.machine()
    fit = (sys.platform, machine, struct.calcsize("P")) == ("linux", "x86_64", 8)
    found = f"Python {platform.python_version()} on {sys.platform} {machine}"
    yield Finding(
        "platform", "ok" if fit else "fail", found, "" if fit else "use 64-bit Linux on x86-64"
    )
    try:
        needed = importlib.metadata.requires("xpu-runtime") or []
    except importlib.metadata.PackageNotFoundError:
        fix = f"{sys.executable} -m pip install xpu-sdk"
        yield Finding("wheel xpu-runtime", "fail", "not installed", fix)
        return
    yield Finding("wheel xpu-runtime", "ok", importlib.metadata.version("xpu-runtime"))
    for requirement in map(Requirement, needed):
        if requirement.marker and not requirement.marker.evaluate():
            continue
        layer, version = f"wheel {requirement.name}", system_info.version(requirement.name)
        fix = f'{sys.executable} -m pip install "{requirement.name}{requirement.specifier}"'
        if version is None:
            yield Finding(layer, "fail", "not installed", fix)
        elif not requirement.specifier.contains(version, prereleases=True):
            found = f"{version}, but {requirement.specifier} is needed"
            yield Finding(layer, "fail", found + _builds_with_other_versions(), fix)
        else:
            yield Finding(layer, "ok", version)


def _builds_with_other_versions() -> str:
    """Name PyTorch's own builds for Intel GPUs, which pin other versions of the vendor's wheels."""
    torch = system_info.version("torch") or ""
    if not torch.endswith("+xpu"):
        return ""
    return (
        f"; torch {torch} pins the other: install torch's wheel for CPUs or the one of PyPI instead"
    )
