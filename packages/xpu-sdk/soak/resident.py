"""How much memory this process holds."""

from __future__ import annotations

import gc
from pathlib import Path


def resident_megabytes() -> float:
    """What of this process is in memory, when everything dropped is gone."""
    gc.collect()
    for line in Path("/proc/self/status").read_text().splitlines():
        if line.startswith("VmRSS"):
            return int(line.split()[1]) / 1024
    raise RuntimeError("no VmRSS")
