"""What a process waits for the compiler of a transformer's step, with empty caches and with full ones."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from pathlib import Path

from cpu_peer import PEER
from xpu_bench import Case, Pair

PROGRAM = Path(__file__).with_name("compile_program.py")


def compiling(platform: str, home: str, keep_programs: bool) -> float:
    """Seconds in a process with its caches in ``home``: the kernels' and, to keep programs, JAX's own."""
    variables = {"XDG_CACHE_HOME": home, "XPU_CACHE_DIR": f"{home}/kernels"}
    if keep_programs:
        variables |= {
            "JAX_COMPILATION_CACHE_DIR": f"{home}/programs",
            "JAX_PERSISTENT_CACHE_MIN_COMPILE_TIME_SECS": "0",
        }
    ran = subprocess.run(
        [sys.executable, str(PROGRAM), platform],
        env={**os.environ, **variables},
        check=True,
        timeout=300,
        capture_output=True,
        text=True,
    )
    return float(ran.stdout)


def with_empty_caches() -> Pair:
    def run(platform: str) -> float:
        with tempfile.TemporaryDirectory() as home:
            return compiling(platform, home, keep_programs=False)

    return Pair(ours=lambda: run("xpu"), peer=lambda: run("cpu"), self_timed=True, inner=1)


def with_full_caches(keep_programs: bool) -> Pair:
    # The harness' first run of each, which it does not count, fills them.
    home = tempfile.TemporaryDirectory()
    return Pair(
        ours=lambda: compiling("xpu", home.name, keep_programs),
        peer=lambda: compiling("cpu", home.name, keep_programs),
        self_timed=True,
        inner=1,
        close=home.cleanup,
    )


def cases() -> Iterator[Case]:
    name = "compile: transformer step"
    yield Case(f"{name}, empty caches", with_empty_caches, PEER, "<= 1.5", repetitions=3)
    yield Case(
        f"{name}, full caches", lambda: with_full_caches(True), PEER, "<= 0.5 s", repetitions=3
    )
    # What users have who set nothing: kernels are kept by themselves, JAX's programs are not.
    yield Case(f"{name}, kernels kept", lambda: with_full_caches(False), PEER, repetitions=3)
