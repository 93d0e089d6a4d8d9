"""Native images of kernels that ship: whether those installed are for this CPU and its driver."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .. import system_info
from . import caches
from .finding import Finding

WHEEL = "xpu-cpu-images"


def check() -> Iterator[Finding]:
    """Count the images that a program on the first CPU device would load."""
    import xpu_runtime as xr

    try:
        device = next((device for device in xr.devices() if device.type == "cpu"), None)
    except xr.Error:  # the check of devices says more
        return
    if device is None or device.backend != "opencl":
        return
    modules = len(xr.ready_kernels.spirv(device.index))
    images = xr.ready_kernels.image_count(device.index)
    if modules == 0:  # the generic mode takes none
        return
    if images:
        yield Finding("kernel images", "ok", f"{images} of {modules} kernels that ship are built")
        return
    installed = system_info.version(WHEEL)
    found = (
        f"{WHEEL} {installed} has none for driver {device.driver_version} and this CPU"
        if installed
        else f"{WHEEL} is not installed"
    )
    fix = f"{sys.executable} -m pip install --upgrade {WHEEL}"
    if caches.can_store():
        fix += ", or: xpu-sdk warm"
    yield Finding("kernel images", "note", f"{found}: programs build kernels at first use", fix)
