"""How long a new process takes to import torch, to its first loss, and to a first step with empty caches."""

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
# Seconds that ours may take more than the peer, whose times have them added.
IMPORT_MARGIN, LOSS_MARGIN, STEP_MARGIN = 0.060, 1.5, 20.0


class Marks(NamedTuple):
    """Seconds from the start of ``import torch`` to three marks, as start_program.py prints them."""

    imported: float
    loss: float
    step: float


def run(device: str = "", **variables: str) -> Marks:
    """Return the marks of one new process, which only imports torch if ``device`` is empty."""
    # For a while, memory that the last process freed is quicker to get, above all on virtual machines.
    # Without the pause a run would depend on the one before it.
    time.sleep(3)
    process = subprocess.run(
        [sys.executable, str(PROGRAM), *filter(None, [device])],
        env={**os.environ, "XPU_FALLBACK": "error", **variables},
        check=True,
        timeout=300,
        capture_output=True,
        text=True,
    )
    return Marks(*map(float, process.stdout.split()))


def stock(device: str = "") -> Marks:
    """Return the marks of a process that uses PyTorch without the adapter."""
    return run(device, TORCH_DEVICE_BACKEND_AUTOLOAD="0")


def importing() -> Pair:
    return Pair(
        ours=lambda: run().imported,
        peer=lambda: stock().imported + IMPORT_MARGIN,
        self_timed=True,
        inner=5,
    )


def first_loss() -> Pair:
    return Pair(
        ours=lambda: run("xpu").loss,
        peer=lambda: stock("cpu").loss + LOSS_MARGIN,
        self_timed=True,
        inner=1,
    )


def first_step() -> Pair:
    def with_empty_caches() -> float:
        with tempfile.TemporaryDirectory() as home:
            return run("xpu", XDG_CACHE_HOME=home).step

    # The peer is xpu too, with the caches that earlier runs filled.
    return Pair(
        ours=with_empty_caches,
        peer=lambda: run("xpu").step + STEP_MARGIN,
        self_timed=True,
        inner=1,
    )


def cases() -> Iterator[Case]:
    yield Case("start: import torch", importing, "stock + 60 ms", "<= 1.0", repetitions=3)
    yield Case("start: GPT-2's first loss", first_loss, "stock + 1.5 s", "<= 1.0", repetitions=2)
    yield Case(
        "start: first step, empty caches", first_step, "warm + 20 s", "<= 1.0", repetitions=2
    )
