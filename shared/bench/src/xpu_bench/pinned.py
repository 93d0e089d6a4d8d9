"""Time pairs in a process with fewer cores: the CPU device and OpenMP fix their threads as they start."""

from __future__ import annotations

import atexit
import json
import subprocess
import sys
from contextlib import suppress
from functools import cache
from pathlib import Path


@cache
def pinned_process(file: Path, cores: int) -> PinnedProcess:
    """Return the process of a number of cores for a file; it ends with this one."""
    process = PinnedProcess(file, cores)
    atexit.register(process.close)
    return process


class PinnedProcess:
    """A process that times pairs, which the function ``make_pair(name)`` of a file makes. Not thread-safe."""

    def __init__(self, file: Path, cores: int) -> None:
        command = [sys.executable, "-m", "xpu_bench.sample_server", str(file), str(cores)]
        self._process = subprocess.Popen(
            command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )

    def sample(self, name: str, side: str) -> float:
        """Return the time in seconds of one call of a pair's side, "ours" or "peer"."""
        requests, times = self._process.stdin, self._process.stdout
        assert requests
        assert times
        with suppress(BrokenPipeError):
            requests.write(json.dumps([name, side]) + "\n")
            requests.flush()
        line = times.readline()
        if not line:
            self.close()
            status = self._process.returncode
            raise RuntimeError(f"{name}: the process that measures ended with status {status}")
        return float(line)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()
