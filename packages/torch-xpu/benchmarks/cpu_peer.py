"""What the torch benchmarks share: the same call on xpu and on the CPU of stock PyTorch, in turn."""

from __future__ import annotations

from collections.abc import Callable

from xpu_bench import Case, Pair

PEER = "torch CPU"


def prepare():
    """PyTorch with as many threads as we get."""
    import os

    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return torch


def paired_with_cpu(make: Callable, call: Callable, **how) -> Callable[[], Pair]:
    """Setup of ``call(*make(device))`` on both devices."""

    def setup() -> Pair:
        torch = prepare()
        torch.manual_seed(0)
        cpu = make("cpu")
        xpu = [
            a.detach().to("xpu").requires_grad_(a.requires_grad)
            if isinstance(a, torch.Tensor)
            else a
            for a in cpu
        ]
        return Pair(
            ours=lambda: call(*xpu),
            peer=lambda: call(*cpu),
            sync=torch.xpu.synchronize,
            **how,
        )

    return setup


def case(name: str, make: Callable, call: Callable, bar: str | None = ">= 1.0", **how) -> Case:
    return Case(name, paired_with_cpu(make, call, **how), PEER, bar)
