"""A program that compiles in a fresh process. It prints the time of the first call less that of a later one.

``python compile_program.py DEVICE NAME [CORES]``. The name is that of a function below, or "training" for the
loss and gradients of GPT-2 small. What importing takes is not in the time. Before a function that becomes one
kernel, another is compiled, so that its time has no start of compilers and no headers that C++ precompiles.
"""

from __future__ import annotations

import os
import sys
import time
from collections.abc import Callable
from statistics import median

import torch
from torch.nn import functional as F

ONE_KERNEL: dict[str, tuple[Callable[..., object], tuple[tuple[int, ...], ...]]] = {
    "gelu of a sum": (lambda x, b: F.gelu(x + b), ((512, 768), (768,))),
    "silu times": (lambda x, y: F.silu(x) * y, ((512, 1024), (512, 1024))),
    "softmax": (lambda x: F.softmax(x, -1), ((512, 1024),)),
    "layer norm": (lambda x, w, b: F.layer_norm(x, (768,), w, b), ((512, 768), (768,), (768,))),
    "rms norm": (lambda x, w: F.rms_norm(x, (768,), w), ((512, 768), (768,))),
    "sum of columns": (lambda x: x.sum(0), ((512, 768),)),
    "argmax": (lambda x: x.argmax(1), ((512, 1024),)),
    "sum with a transposed": (lambda x, y: x.t() + y, ((512, 512), (512, 512))),
}


def compiled(device: str, name: str) -> Callable[[], object]:
    """Return a call that compiles when it is first made."""
    if name == "training":
        from gpt import GPT

        tokens = torch.randint(0, 50257, (1, 128)).to(device)
        net = torch.compile(GPT().to(device))
        return lambda: net(tokens, tokens).backward()
    function, shapes = ONE_KERNEL[name]
    inputs = [torch.randn(shape).to(device) for shape in shapes]
    torch.compile(lambda x: x.tan() + 1)(torch.ones(50, device=device))
    call = torch.compile(function)
    return lambda: call(*inputs)


def main(device: str, name: str, cores: str = "") -> float:
    """Return the seconds of compiling a function for a device, on the first cores of the process."""
    if cores:
        os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[: int(cores)])
    import torch._inductor.compile_fx

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    call, synchronize = compiled(device, name), torch.accelerator.synchronize
    if device == "cpu":
        synchronize = lambda: None  # noqa: E731
    else:
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
