"""What the first call of a compiled function takes, with empty and with full caches, in new processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

from bench_patterns import COMPILED_CPU
from xpu_bench import Case, Pair

PROGRAM = Path(__file__).with_name("compile_program.py")
ONE_KERNEL = (
    "gelu of a sum",
    "silu times",
    "softmax",
    "layer norm",
    "rms norm",
    "sum of columns",
    "argmax",
    "sum with a transposed",
)


def compiling(home: str, device: str, *name_and_cores: str) -> float:
    """Seconds of compilation in a new process with its caches in ``home``."""
    variables = {
        "TORCHINDUCTOR_CACHE_DIR": f"{home}/inductor",
        "XPU_CACHE_DIR": f"{home}/kernels",
        "TORCH_DEVICE_BACKEND_AUTOLOAD": "0" if device == "cpu" else "1",
    }
    process = subprocess.run(
        [sys.executable, str(PROGRAM), device, *name_and_cores],
        env={**os.environ, **variables},
        check=True,
        timeout=600,
        capture_output=True,
        text=True,
    )
    return float(process.stdout)


def with_empty_caches(device: str, *name_and_cores: str) -> float:
    with tempfile.TemporaryDirectory() as home:
        return compiling(home, device, *name_and_cores)


def beside_stock(*name_and_cores: str) -> Callable[[], Pair]:
    def setup() -> Pair:
        ours, peer = (partial(with_empty_caches, kind, *name_and_cores) for kind in ("xpu", "cpu"))
        return Pair(ours=ours, peer=peer, self_timed=True, inner=1)

    return setup


def full_beside_empty() -> Pair:
    # The harness' first run, which it does not count, fills the caches.
    home = tempfile.TemporaryDirectory()
    return Pair(
        ours=lambda: compiling(home.name, "xpu", "training"),
        peer=lambda: with_empty_caches("xpu", "training"),
        self_timed=True,
        inner=1,
        close=home.cleanup,
    )


def cases() -> Iterator[Case]:
    for name in ONE_KERNEL:
        yield Case(
            f"compile: {name}, one core",
            beside_stock(name, "1"),
            COMPILED_CPU,
            "<= 0.25",
            repetitions=3,
        )
    training = "compile: GPT-2's training step"
    yield Case(training, beside_stock("training"), COMPILED_CPU, "<= 0.7", repetitions=2)
    yield Case(
        f"{training}, full caches", full_beside_empty, "empty caches", "<= 0.3", repetitions=2
    )
