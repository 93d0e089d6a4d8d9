"""What a small operator costs the host: beside a bare SYCL submit, and replayed as a graph."""

from __future__ import annotations

import sys
import time
from collections.abc import Callable, Iterator
from pathlib import Path

from cpu_peer import prepare
from xpu_bench import Case, Pair

OPERATIONS = 100
ALLOWANCE = 2.5e-6  # what PyTorch's dispatcher, allocator and ours may add to a submit
RUNTIME = Path(__file__).parents[2] / "runtime" / "benchmarks"


def _each(work: Callable[[], object]) -> float:
    """Seconds the host needs for one of the operations that ``work`` enqueues."""
    import torch

    torch.xpu.synchronize()
    begin = time.perf_counter()
    work()
    seconds = (time.perf_counter() - begin) / OPERATIONS
    torch.xpu.synchronize()
    return seconds


def _adds():
    torch = prepare()
    a, b = (torch.randn(64, device="xpu") for _ in range(2))

    def work():
        for _ in range(OPERATIONS):
            a + b

    return work


def small_add() -> Pair:
    sys.path.append(str(RUNTIME))
    from runtime_library import runtime_library

    native = runtime_library("launch_cost.cpp", ("launch_bare",), ("sycl",))
    work = _adds()
    return Pair(
        ours=lambda: _each(work),
        peer=lambda: native.launch_bare() + ALLOWANCE,
        self_timed=True,
        inner=20,
    )


def replay() -> Pair:
    work = _adds()
    import torch

    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        work()
    return Pair(
        ours=lambda: _each(graph.replay), peer=lambda: _each(work), self_timed=True, inner=20
    )


def enqueued() -> Pair:
    """A hundred operators behind one that takes long: the host must not wait for it."""
    work = _adds()
    import torch

    large = torch.randn(2048, 2048, device="xpu")

    def behind() -> float:
        torch.xpu.synchronize()
        large @ large
        begin = time.perf_counter()
        work()
        seconds = time.perf_counter() - begin
        torch.xpu.synchronize()
        return seconds

    def alone() -> float:
        torch.xpu.synchronize()
        begin = time.perf_counter()
        large @ large
        torch.xpu.synchronize()
        return time.perf_counter() - begin

    return Pair(ours=behind, peer=alone, self_timed=True, inner=3)


def cases() -> Iterator[Case]:
    yield Case("host: add of 64", small_add, "bare submit + 2.5 us", "<= 1.0")
    yield Case("host: add of 64 replayed", replay, "enqueued", "<= 0.55")
    yield Case("host: 100 adds behind a product", enqueued, "the product", "<= 0.5")
