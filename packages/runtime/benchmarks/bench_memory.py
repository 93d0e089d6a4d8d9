"""The pool's own costs, in C++."""

from __future__ import annotations

import math
from collections.abc import Iterator

from runtime_library import runtime_library
from xpu_bench import Case, Pair

FUNCTIONS = ("cached", "driver", "threads")


def cached(peer: bool) -> Pair:
    native = runtime_library("memory_cost.cpp", FUNCTIONS, ("sycl",))
    return Pair(ours=native.cached, peer=native.driver if peer else None, self_timed=True, inner=10)


def threads() -> Pair:
    native = runtime_library("memory_cost.cpp", FUNCTIONS, ("sycl",))

    def operation() -> float:
        taken = native.threads()
        if math.isnan(taken):
            raise RuntimeError("the pool's statistics are wrong after 10 M operations")
        return taken

    return Pair(ours=operation, self_timed=True, inner=1)


def cases() -> Iterator[Case]:
    yield Case("allocate and free, cached", lambda: cached(False), bar="<= 0.5 us")
    yield Case(
        "allocate and free, beside the driver",
        lambda: cached(True),
        peer_name="sycl::malloc_device",
    )
    yield Case("allocate or free, 8 threads, 10 M", threads, repetitions=3)
