"""Runs a program, of the folder unless it has a path, by a launcher as two local ranks over loopback."""

from __future__ import annotations

import os
import sys
from pathlib import Path

from xpu_testing import processes

PROGRAMS = Path(__file__).parent / "programs"
TORCHRUN = [
    "torch.distributed.run",
    "--standalone",
    "--local-addr",
    "127.0.0.1",
    "--nproc-per-node",
    "2",
]


def launch(module: list[str], program: str, *arguments: str, timeout: float = 100) -> str:
    """Start a launcher, a module with its arguments; return what the program prints."""
    variables = {
        **os.environ,
        "XPU_FALLBACK": "error",
        "GLOO_SOCKET_IFNAME": "lo",
        "OMP_NUM_THREADS": "1",
    }
    variables.pop("XPU_CPU_DEVICES", None)
    command = [sys.executable, "-m", *module, str(PROGRAMS / program), *arguments]
    done = processes.run(command, timeout, env=variables)
    assert done.returncode == 0, f"{done.stdout}\n{done.stderr}"
    return done.stdout
