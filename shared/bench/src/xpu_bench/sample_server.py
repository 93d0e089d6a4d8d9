"""``python -m xpu_bench.sample_server FILE CORES``: the process of pinned.py.

Each line of the input names a pair and a side, each line of the output is the time of a sample in seconds.
The process ends when its input does.
"""

from __future__ import annotations

import importlib.util
import json
import os
import sys
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

from .case import Pair
from .cores import use_cores
from .measure import calls_a_sample, sample


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
