"""Collectives of two processes, beside gloo's of CPU tensors in the same processes."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from functools import partial
from pathlib import Path

from xpu_bench import Case, Pair

# What a rank that does not answer may take, in seconds.
TIMEOUT = 60
# Bytes, calls of a sample, and the bar.
SIZES = [
    (8, 100, "<= 1.5"),
    (1 << 18, 20, "<= 1.25"),
    (1 << 22, 4, "<= 1.25"),
    (1 << 26, 1, "<= 1.05"),
]


class Ranks:
    """Two processes that reduce tensors together."""

    def __init__(self) -> None:
        self.folder = tempfile.TemporaryDirectory()
        common = {
            "STORE": str(Path(self.folder.name) / "store"),
            "OMP_NUM_THREADS": "1",
        }
        self.processes = [
            self._start({**os.environ, **common, "RANK": str(rank)}) for rank in range(2)
        ]
        for process in self.processes:
            self._answer(process)

    @staticmethod
    def _start(env: dict[str, str]) -> subprocess.Popen[str]:
        program = Path(__file__).with_name("collective_rank.py")
        pipe = subprocess.PIPE
        return subprocess.Popen(
            [sys.executable, program], stdin=pipe, stdout=pipe, text=True, env=env
        )

    @staticmethod
    def _answer(process: subprocess.Popen[str]) -> str:
        assert process.stdout
        line = process.stdout.readline()
        if not line:
            raise RuntimeError(f"a rank ended with status {process.wait(TIMEOUT)}")
        return line

    def measure(self, kind: str, size: int, count: int) -> float:
        """Return the seconds of one call: the mean of both ranks."""
        for process in self.processes:
            assert process.stdin
            process.stdin.write(f"{kind} {size} {count}\n")
            process.stdin.flush()
        return sum(float(self._answer(process)) for process in self.processes) / 2

    def close(self) -> None:
        for process in self.processes:
            assert process.stdin
            process.stdin.close()
        for process in self.processes:
            process.wait(TIMEOUT)
        self.folder.cleanup()


def all_reduce(size: int, count: int) -> Pair:
    """The time of an all-reduce on xpu and on the CPU."""
    ranks = Ranks()
    return Pair(
        ours=partial(ranks.measure, "xpu", size, count),
        peer=partial(ranks.measure, "cpu", size, count),
        self_timed=True,
        inner=1,
        close=ranks.close,
    )


def enqueue() -> Pair:
    """The host's time of a call that does not wait."""
    ranks = Ranks()
    return Pair(
        ours=partial(ranks.measure, "enqueue", 4096, 20),
        self_timed=True,
        inner=1,
        close=ranks.close,
    )


def cases() -> Iterator[Case]:
    for size, count, bar in SIZES:
        name = f"all_reduce of {size} bytes, two processes"
        yield Case(name, partial(all_reduce, size, count), "gloo, CPU tensors", bar)
    yield Case("all_reduce, enqueue", enqueue, None, "<= 25 us")
