"""The variables that make a suite meet what a GPU would do to it, where there is none."""

from __future__ import annotations

from pathlib import Path

import nox

GPU_DRIVER = Path("/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so")
VIRTUAL_GPUS = ("dg2", "pvc")

STRICT = {"XPU_STRICT_MEMORY": "1"}
GENERIC = {"XPU_GENERIC_BACKEND": "1"}


def virtual_gpu(product: str) -> dict[str, str]:
    """Intel's driver with no hardware behind it: kernels are built and submitted, not run."""
    return {
        "NEOReadDebugKeys": "1",
        "SetCommandStreamReceiver": "1",
        "ProductFamilyOverride": product,
        "HardwareInfoOverride": "8x4x16",
        # Nothing executes, so nothing would ever write the timestamps that waits look at on pvc.
        "EnableTimestampPacket": "0",
        # Otherwise the driver captures 140 MB and more into the working directory.
        "AUBDumpCaptureFileName": "/dev/null",
        "OCL_ICD_FILENAMES": str(GPU_DRIVER),
        "ONEAPI_DEVICE_SELECTOR": "opencl:gpu",
        "XPU_VALUES": "0",
    }


def require_gpu_driver(session: nox.Session) -> None:
    """Stop with the one command that installs the driver and its offline compiler."""
    if not GPU_DRIVER.exists():
        session.error(
            f"{GPU_DRIVER} is not on this machine. Intel's driver and ocloc come with: "
            "sudo apt-get install -y intel-opencl-icd"
        )
