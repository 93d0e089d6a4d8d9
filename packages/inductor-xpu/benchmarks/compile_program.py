"""A fresh process that compiles: prints the seconds that a first call takes longer than the later ones.

``python compile_program.py DEVICE NAME [CORES]``. The name is that of a pattern of bench_patterns.py, or
"training" for GPT-2 small's loss and gradients. What importing takes is not in the time. Before a pattern,
another function is compiled, so that its time has no start of compilers and no headers that C++ precompiles.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from statistics import median


def compiled(device: str, name: str) -> Callable[[], object]:
    """Return a call that compiles when it is first made."""
    import torch

    if name == "training":
        from gpt import GPT

        tokens = torch.randint(0, 50257, (1, 128)).to(device)
        net = torch.compile(GPT().to(device))
        return lambda: net(tokens, tokens).backward()
    from bench_patterns import PATTERNS

    function, make = PATTERNS[name]
    inputs = [tensor.to(device) for tensor in make()]
    torch.compile(lambda x: x.tan() + 1)(torch.ones(50, device=device))
    pattern = torch.compile(function)
    return lambda: pattern(*inputs)


def main(device: str, name: str, cores: str = "") -> float:
    if cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    import torch
    import torch._inductor.compile_fx

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    call, synchronize = compiled(device, name), lambda: None
    if device == "xpu":
        synchronize = torch.xpu.synchronize
        torch.ones(1, device=device).sum().item()  # starts the device
    times = []
    for _ in range(4):
        begin = time.perf_counter()
        call()
        synchronize()
        times.append(time.perf_counter() - begin)
    return times[0] - median(times[1:])


if __name__ == "__main__":
    print(main(*sys.argv[1:]))
