"""What a process pays before it computes: importing, the first loss, the first step with empty caches."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from xpu_bench import Case, Pair

PROGRAM = Path(__file__).with_name("start_program.py")
# Seconds that each may take beyond its peer.
IMPORT, LOSS, STEP = 0.060, 1.5, 20.0


class Marks(NamedTuple):
    imported: float
    loss: float
    step: float


def run(device: str = "", **variables: str) -> Marks:
    """One process; its device is none when it only imports."""
    # Memory that the last process freed is quicker to get for a while, on virtual machines above all.
    time.sleep(3)
    ran = subprocess.run(
        [sys.executable, str(PROGRAM), *filter(None, [device])],
        env={**os.environ, "XPU_FALLBACK": "error", **variables},
        check=True,
        timeout=300,
        capture_output=True,
        text=True,
    )
    return Marks(*map(float, ran.stdout.split()))


def stock(device: str = "") -> Marks:
    """PyTorch without the adapter."""
    return run(device, TORCH_DEVICE_BACKEND_AUTOLOAD="0")


def importing() -> Pair:
    return Pair(
        ours=lambda: run().imported,
        peer=lambda: stock().imported + IMPORT,
        self_timed=True,
        inner=5,
    )


def first_loss() -> Pair:
    return Pair(
        ours=lambda: run("xpu").loss,
        peer=lambda: stock("cpu").loss + LOSS,
        self_timed=True,
        inner=1,
    )


def first_step() -> Pair:
    def with_empty_caches() -> float:
        with tempfile.TemporaryDirectory() as home:
            return run("xpu", XDG_CACHE_HOME=home).step

    return Pair(
        ours=with_empty_caches, peer=lambda: run("xpu").step + STEP, self_timed=True, inner=1
    )


def cases() -> Iterator[Case]:
    yield Case("start: import torch", importing, "stock + 60 ms", "<= 1.0", repetitions=3)
    yield Case("start: GPT-2's first loss", first_loss, "stock + 1.5 s", "<= 1.0", repetitions=2)
    yield Case(
        "start: first step, empty caches", first_step, "warm + 20 s", "<= 1.0", repetitions=2
    )
