"""Variables that run a suite under a GPU check, on a machine without a GPU."""

from __future__ import annotations

import sys

import nox

from .packages import ROOT

# The checks of `xpu-sdk check`; this part of xpu_sdk needs no other package.
sys.path.insert(0, str(ROOT / "packages" / "xpu-sdk" / "src"))

from xpu_sdk.gpu_checks import virtual_gpu
from xpu_sdk.gpu_checks.products import PRODUCTS

STRICT = {"XPU_STRICT_MEMORY": "1"}
GENERIC = {"XPU_GENERIC_BACKEND": "1"}
VIRTUAL_GPUS = {name: virtual_gpu.variables(product) for name, product in PRODUCTS.items()}


def require_gpu_driver(session: nox.Session) -> None:
    """Fail, naming the command that installs the driver and its offline compiler, if it is missing."""
    if not virtual_gpu.DRIVER.exists():
        session.error(f"Intel's GPU driver is not installed. Run: {virtual_gpu.INSTALL}")
