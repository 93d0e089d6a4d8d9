"""Installed wheels, drivers, render nodes and variables, for ``info`` and ``doctor``. Touches no device."""

from __future__ import annotations

import importlib.metadata
import os
import platform
import sys
from pathlib import Path

from . import adapters

OUR_WHEELS = ("xpu-sdk", "xpu-runtime", "xpu-cpu-images")
VENDOR_WHEELS = ("intel-sycl-rt", "intel-opencl-rt", "intel-cmplr-lib-ur", "onednn", "umf", "tbb")
FRAMEWORKS = ("torch", "triton", "jax", "jaxlib", "torchao", "numpy")
# Variables of other projects that affect the devices and libraries of a process.
FOREIGN_VARIABLES = (
    "ONEAPI_DEVICE_SELECTOR",
    "ZE_AFFINITY_MASK",
    "OCL_ICD_FILENAMES",
    "OCL_ICD_VENDORS",
    "LD_LIBRARY_PATH",
    "LD_PRELOAD",
    "ONEAPI_ROOT",
    "SYCL_CACHE_PERSISTENT",
    "UR_ENABLE_LAYERS",
    "ONEDNN_VERBOSE",
)


def version(wheel: str) -> str | None:
    """Return the version of an installed wheel, without importing it; None if it is missing."""
    try:
        return importlib.metadata.version(wheel)
    except importlib.metadata.PackageNotFoundError:
        return None


def versions(wheels: tuple[str, ...]) -> dict[str, str]:
    """Return the versions by wheel, without those that are not installed."""
    return {wheel: found for wheel in wheels if (found := version(wheel))}


def variables() -> dict[str, str]:
    """Return the variables that are set and affect the devices or libraries of a process."""
    mine = {name for name in os.environ if name.startswith("XPU_")}
    return {
        name: os.environ[name]
        for name in sorted(mine | set(FOREIGN_VARIABLES))
        if name in os.environ
    }


def opencl_drivers() -> dict[str, str | None]:
    """Return the OpenCL drivers that a loader would try: the file that names each, and its library."""
    drivers: dict[str, str | None] = {}
    vendors = Path(os.environ.get("OCL_ICD_VENDORS", "/etc/OpenCL/vendors"))
    for icd in sorted(vendors.glob("*.icd")) if vendors.is_dir() else []:
        drivers[str(icd)] = icd.read_text().strip() or None
    for path in filter(None, os.environ.get("OCL_ICD_FILENAMES", "").split(":")):
        drivers.setdefault("OCL_ICD_FILENAMES", None)
        drivers[path] = path
    drivers.pop("OCL_ICD_FILENAMES", None)
    return drivers


def render_nodes() -> dict[str, str]:
    """Return the render nodes of the machine and the PCI vendor of each (0x8086 is Intel)."""
    nodes = {}
    for node in sorted(Path("/dev/dri").glob("renderD*")) if Path("/dev/dri").is_dir() else []:
        vendor = Path("/sys/class/drm") / node.name / "device" / "vendor"
        nodes[str(node)] = vendor.read_text().strip() if vendor.exists() else "unknown"
    return nodes


def software() -> dict[str, object]:
    """Return everything that can be known without touching a device."""
    return {
        "python": sys.version.split()[0],
        "platform": platform.platform(),
        "xpu": versions(OUR_WHEELS),
        "vendor": versions(VENDOR_WHEELS),
        "frameworks": versions(FRAMEWORKS),
        "adapters": {
            a.name: {"wheel": a.wheel, **(a.about or {"error": a.error})}
            for a in adapters.installed()
        },
        "opencl_drivers": opencl_drivers(),
        "render_nodes": render_nodes(),
        "variables": variables(),
    }
