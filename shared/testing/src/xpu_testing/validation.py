"""Unified Runtime's validation layer. Each process writes its findings into its own file."""

from __future__ import annotations

import re
import uuid
from collections.abc import Mapping
from pathlib import Path

# SYCL passes the null handle for an optional argument, also in a program of three lines.
KNOWN = ("There are no valid references to handle 0",)


def variables(environment: Mapping[str, str]) -> dict[str, str]:
    """Return the variables that enable the layer in a new process, if XPU_VALIDATION_LOGS names a folder."""
    folder = environment.get("XPU_VALIDATION_LOGS")
    if not folder:
        return {}
    if environment.get("XPU_CPU_DEVICES", "1") != "1":
        # The layer does not know the handles of sub-devices and would report them.
        return {"XPU_RELEASE_AT_EXIT": "1", "UR_ENABLE_LAYERS": ""}
    test = re.sub(r"\W+", "-", environment.get("PYTEST_CURRENT_TEST", "suite"))[-80:]
    return {
        "UR_ENABLE_LAYERS": "UR_LAYER_FULL_VALIDATION",
        "UR_LOG_VALIDATION": f"level:error;output:file,{folder}/{test}{uuid.uuid4()}.log",
        "XPU_RELEASE_AT_EXIT": "1",
    }


def findings(folder: Path) -> list[str]:
    """Return the lines that the layer reported in all processes, in the order of their files."""
    lines = []
    for log in sorted(folder.glob("*.log")):
        for line in log.read_text(errors="replace").splitlines():
            if line.strip() and not line.endswith(KNOWN):
                lines.append(f"{log.stem[:-36]}: {line}")
    return lines
