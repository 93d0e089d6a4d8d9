"""A fresh process that compiles a transformer's training step: prints the seconds that took.

``python compile_program.py PLATFORM``. JAX's own work before (tracing, lowering) is not in it; what the
first step takes longer than the later ones is, as some of the compiling may be left for then.
"""

import sys
import time
from itertools import pairwise
from statistics import median

import jax
import transformer
from cpu_peer import Inputs, on


def run(platform: str) -> float:
    jax.config.update("jax_platforms", platform)
    state, tokens = on(platform, transformer.start(Inputs()))
    lowered = jax.jit(transformer.step()).lower(state, tokens)
    marks = [time.perf_counter()]
    compiled = lowered.compile()
    marks.append(time.perf_counter())
    for _ in range(4):
        jax.block_until_ready(compiled(state, tokens))
        marks.append(time.perf_counter())
    compiling, first, *later = (after - before for before, after in pairwise(marks))
    return compiling + max(0, first - median(later))


if __name__ == "__main__":
    print(run(sys.argv[1]))
