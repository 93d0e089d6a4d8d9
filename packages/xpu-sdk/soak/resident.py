"""Resident memory of this process."""

from __future__ import annotations

import gc
from pathlib import Path


def resident_megabytes() -> float:
    """Collect garbage and return the resident memory in MB."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")
