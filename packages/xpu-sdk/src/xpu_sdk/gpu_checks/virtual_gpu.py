"""A virtual GPU: Intel's driver with no hardware behind it. Kernels are built and submitted, not run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .gpu_issue import GpuIssue
from .products import Product
from .run_command import ProcessResult, run_command

DRIVER = Path("/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so")
INSTALL = "sudo apt-get install -y intel-opencl-icd"

# The last line of a traceback that ends in one of the runtime's own errors.
_ERROR = re.compile(
    r"^(?:E +)?xpu_runtime\.(?:\w+\.)*(\w+): (.*(?:\n(?!\S+Error).*)*)", re.MULTILINE
)


def variables(product: Product) -> dict[str, str]:
    """Return the variables that make the driver show a GPU that is not there."""
    return {
        "NEOReadDebugKeys": "1",
        "SetCommandStreamReceiver": "1",
        "ProductFamilyOverride": product.name,
        "HardwareInfoOverride": "8x4x16",
        # On pvc a wait reads timestamps, which nothing writes because nothing executes.
        "EnableTimestampPacket": "0",
        # By default the driver writes what submissions read, 140 MB and more, into the working directory.
        # It then sometimes reads a freed allocation, and crashes or hangs.
        "AUBDumpCaptureFileName": "/dev/null",
        "AUBDumpSubCaptureMode": "2",  # capture starts at a toggle, and there is none
        # The binary format that lists what a kernel needs; older drivers choose another for dg2.
        "IGC_EnableZEBinary": "1",
        "OCL_ICD_FILENAMES": str(DRIVER),
        "ONEAPI_DEVICE_SELECTOR": "opencl:gpu",
        "XPU_STRICT_MEMORY": "0",
        "XPU_GENERIC_BACKEND": "0",
        # Tells test suites that nothing is computed.
        "XPU_TEST_VALUES": "0",
    }


def check(command: Sequence[str], product: Product, dump: str, timeout: float) -> list[GpuIssue]:
    """Run the command as on the product, keep its kernels under ``dump``, and return the issues."""
    folder = Path(dump, product.name)
    folder.mkdir(exist_ok=True)
    result = run_command(command, variables(product) | {"XPU_DUMP_KERNELS": str(folder)}, timeout)
    return issues_of(result, product)


def issues_of(result: ProcessResult, product: Product) -> list[GpuIssue]:
    """Return the issues that the command's exit code and stderr show: limits, rejected kernels, crashes."""
    where = f"virtual {product.name}"
    errors = dict.fromkeys(_ERROR.findall(result.errors))
    if result.code == 0:
        return []
    issues = [
        GpuIssue(
            where, f"{kind}: {text.splitlines()[0]}", detail="\n".join(text.splitlines()[1:12])
        )
        for kind, text in errors
    ]
    if issues and not result.timeout:
        return issues
    if result.code < 0:
        return [
            *issues,
            GpuIssue(where, f"the command {result.describe()}", detail=_tail(result.errors)),
        ]
    what = (
        f"the command {result.describe()}; a virtual GPU computes nothing, which may be the cause"
    )
    return [GpuIssue(where, what, is_error=False, detail=_tail(result.errors))]


def _tail(errors: str, lines: int = 8) -> str:
    return "\n".join(errors.splitlines()[-lines:])
