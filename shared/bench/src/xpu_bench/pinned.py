"""Time pairs in a process with fewer cores: the CPU device and OpenMP fix their threads as they start.

The process is ``python -m xpu_bench.pinned FILE CORES``. Each line of its input names a pair and a side, each
line of its output is the time of a sample in seconds. It ends when its input does.
"""

from __future__ import annotations

import atexit
import importlib.util
import json
import os
import subprocess
import sys
from collections.abc import Callable
from contextlib import suppress
from functools import cache
from pathlib import Path
from types import ModuleType

from .case import Pair
from .cores import use_cores


@cache
def pinned_process(file: Path, cores: int) -> PinnedProcess:
    """Return the process of a number of cores for a file; it ends with this one."""
    process = PinnedProcess(file, cores)
    atexit.register(process.close)
    return process


class PinnedProcess:
    """A process that times pairs, which the function ``make_pair(name)`` of a file makes. Not thread-safe."""

    def __init__(self, file: Path, cores: int) -> None:
        command = [sys.executable, "-m", "xpu_bench.pinned", str(file), str(cores)]
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
            raise RuntimeError(
                f"{name}: the process that measures ended with status {self._process.wait()}"
            )
        return float(line)

    def close(self) -> None:
        """End the process."""
        self._process.communicate()


def _load(file: Path) -> ModuleType:
    spec = importlib.util.spec_from_file_location(file.stem, file)
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    sys.modules[file.stem] = module
    sys.path.insert(0, str(file.parent))
    spec.loader.exec_module(module)
    return module


def _serve(make_pair: Callable[[str], Pair]) -> None:
    from .measure import calls_a_sample, sample

    # What libraries print must not stand between the times.
    times = os.fdopen(os.dup(1), "w")
    os.dup2(2, 1)
    current, pair, inner = "", Pair(ours=lambda: None), 1
    for line in sys.stdin:
        name, side = json.loads(line)
        if name != current:
            if pair.close:
                pair.close()
            current, pair = name, make_pair(name)
            inner = calls_a_sample(pair)
        times.write(f"{sample(pair, side, inner)!r}\n")
        times.flush()


if __name__ == "__main__":
    use_cores(int(sys.argv[2]))
    _serve(_load(Path(sys.argv[1])).make_pair)
