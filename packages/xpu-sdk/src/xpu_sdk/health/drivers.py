"""OpenCL drivers, and permission to open the GPU's render node."""

from __future__ import annotations

import ctypes.util
import os
import sys
from collections.abc import Iterator
from pathlib import Path

from .. import system_info
from .finding import Finding

INTEL = "0x8086"


def check() -> Iterator[Finding]:
    """Check every driver that a loader would try, the wheel's CPU driver, and every render node."""
    for named_by, library in system_info.opencl_drivers().items():
        yield _driver(named_by, library)
    cpu = Path(sys.prefix) / "lib" / "libintelocl.so"
    if cpu.exists():
        yield Finding("CPU driver", "ok", str(cpu))
    nodes = system_info.render_nodes()
    if not nodes:
        # This is no failure: drivers of other vendors need no render node.
        yield Finding("render nodes", "note", "none in /dev/dri, which Intel's GPU drivers need")
    for node, vendor in nodes.items():
        yield _node(node, vendor)


def _driver(named_by: str, library: str | None) -> Finding:
    layer = f"OpenCL driver {Path(named_by).name}"
    if library is None:
        return Finding(layer, "fail", f"{named_by} names no library", f"sudo rm {named_by}")
    exists = Path(library).exists() if "/" in library else _loader_knows(library)
    if exists:
        return Finding(layer, "ok", library)
    fix = (
        "unset OCL_ICD_FILENAMES"
        if named_by == library
        else f"sudo rm {named_by}, or install its package"
    )
    return Finding(layer, "fail", f"{named_by} names {library}, which does not exist", fix)


def _loader_knows(library: str) -> bool:
    stem = library.removeprefix("lib").split(".so")[0]
    return ctypes.util.find_library(stem) is not None


def _node(node: str, vendor: str) -> Finding:
    layer = f"render node {Path(node).name}"
    if vendor != INTEL:
        return Finding(layer, "note", f"PCI vendor {vendor}, not Intel's {INTEL}")
    if not os.access(node, os.R_OK | os.W_OK):
        group = _group(node)
        fix = f"sudo usermod -aG {group} $USER, then log in again"
        return Finding(layer, "fail", f"Intel, but this user may not open {node}", fix)
    return Finding(layer, "ok", "Intel, may be opened")


def _group(node: str) -> str:
    try:
        return Path(node).group()
    except KeyError:
        return str(os.stat(node).st_gid)
