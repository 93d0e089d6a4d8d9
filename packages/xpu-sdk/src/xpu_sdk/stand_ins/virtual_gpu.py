"""A virtual GPU: Intel's driver with no hardware behind it. Kernels are built and submitted, not run."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from .fault import Fault
from .products import Product
from .running import Ended, run

DRIVER = Path("/usr/lib/x86_64-linux-gnu/intel-opencl/libigdrcl.so")
INSTALL = "sudo apt-get install -y intel-opencl-icd"

# The last line of a traceback that ends in one of the runtime's own errors.
_ERROR = re.compile(
    r"^(?:E +)?xpu_runtime\.(?:\w+\.)*(\w+): (.*(?:\n(?!\S+Error).*)*)", re.MULTILINE
)


def variables(product: Product) -> dict[str, str]:
    """What makes the driver show a GPU that is not there."""
    return {
        "NEOReadDebugKeys": "1",
        "SetCommandStreamReceiver": "1",
        "ProductFamilyOverride": product.name,
        "HardwareInfoOverride": "8x4x16",
        # Nothing executes, so nothing would ever write the timestamps that waits look at on pvc.
        "EnableTimestampPacket": "0",
        # Otherwise the driver captures what submissions read, 140 MB and more into the working directory;
        # it then now and then reads an allocation that is gone, and crashes or never ends.
        "AUBDumpCaptureFileName": "/dev/null",
        "AUBDumpSubCaptureMode": "2",  # captures between toggles, and nobody toggles
        # The format of binaries that says what a kernel needs; older drivers choose another for dg2.
        "IGC_EnableZEBinary": "1",
        "OCL_ICD_FILENAMES": str(DRIVER),
        "ONEAPI_DEVICE_SELECTOR": "opencl:gpu",
        "XPU_STRICT_MEMORY": "0",
        "XPU_GENERIC_BACKEND": "0",
        # Tells a test suite that values mean nothing here.
        "XPU_VALUES": "0",
    }


def check(command: Sequence[str], product: Product, dump: str, timeout: float) -> list[Fault]:
    """Run the command on the virtual GPU."""
    folder = Path(dump, product.name)
    folder.mkdir(exist_ok=True)
    ended = run(command, variables(product) | {"XPU_DUMP_KERNELS": str(folder)}, timeout)
    return read(ended, product)


def read(ended: Ended, product: Product) -> list[Fault]:
    """Faults from how the command ended: limits broken, kernels refused, crashes."""
    where = f"virtual {product.name}"
    errors = dict.fromkeys(_ERROR.findall(ended.errors))
    if ended.code == 0:
        return []
    faults = [
        Fault(where, f"{kind}: {text.splitlines()[0]}", detail="\n".join(text.splitlines()[1:12]))
        for kind, text in errors
    ]
    if faults and not ended.timeout:
        return faults
    if ended.code < 0:
        return [*faults, Fault(where, f"the command {ended.how()}", detail=_tail(ended.errors))]
    what = f"the command {ended.how()}; nothing is computed there, which may be why"
    return [Fault(where, what, serious=False, detail=_tail(ended.errors))]


def _tail(errors: str, lines: int = 8) -> str:
    return "\n".join(errors.splitlines()[-lines:])
