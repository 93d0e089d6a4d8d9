"""The variables that make a suite meet what a GPU would do to it, where there is none."""

from __future__ import annotations

import sys

import nox

from .packages import ROOT

# The same stand-ins that `xpu-sdk check` offers to users; that part of it needs no other package.
sys.path.insert(0, str(ROOT / "packages" / "xpu-sdk" / "src"))

from xpu_sdk.gpu_checks import virtual_gpu
from xpu_sdk.gpu_checks.products import PRODUCTS

STRICT = {"XPU_STRICT_MEMORY": "1"}
GENERIC = {"XPU_GENERIC_BACKEND": "1"}
VIRTUAL_GPUS = {name: virtual_gpu.variables(product) for name, product in PRODUCTS.items()}


def require_gpu_driver(session: nox.Session) -> None:
    """Stop with the one command that installs the driver and its offline compiler."""
    if not virtual_gpu.DRIVER.exists():
        session.error(f"Intel's GPU driver is not on this machine. Run: {virtual_gpu.INSTALL}")
