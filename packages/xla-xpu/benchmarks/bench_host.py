"""What a small call costs the host, what crosses to PyTorch and back, what memory a step takes."""

from __future__ import annotations

import gc
import time
from collections.abc import Callable, Iterator
from typing import Any

import jax
import transformer
from cpu_peer import PEER, Inputs, on
from xpu_bench import Case, Pair

CALLS = 1000


def _adding(platform: str) -> Callable[[], Any]:
    add = jax.jit(lambda x: x + 1)
    x = on(platform, Inputs().normal(8))
    return lambda: add(x)


def _product(size: int, platform: str = "xpu") -> Callable[[], Any]:
    multiply = jax.jit(lambda x: x @ x)
    x = on(platform, Inputs().normal(size, size))
    return lambda: multiply(x)


def dispatch() -> Pair:
    """Calls that are enqueued; what ends a sample is one more, as each comes after those before."""
    ours, peer = map(_adding, ("xpu", "cpu"))
    return Pair(
        ours=ours,
        peer=peer,
        sync=lambda: jax.block_until_ready(ours()),
        peer_sync=lambda: jax.block_until_ready(peer()),
        time_sync=False,
        inner=CALLS,
    )


def answer() -> Pair:
    """Calls that are waited for, each."""
    ours, peer = map(_adding, ("xpu", "cpu"))
    return Pair(
        ours=lambda: jax.block_until_ready(ours()), peer=lambda: jax.block_until_ready(peer())
    )


def enqueued() -> Pair:
    """Calls behind a product that takes long: the host must not wait for it."""
    add, multiply = _adding("xpu"), _product(4096)

    def behind() -> float:
        multiply()
        begin = time.perf_counter()
        for _ in range(CALLS):
            last = add()
        seconds = time.perf_counter() - begin
        jax.block_until_ready(last)
        return seconds

    def alone() -> float:
        begin = time.perf_counter()
        jax.block_until_ready(multiply())
        return time.perf_counter() - begin

    return Pair(ours=behind, peer=alone, self_timed=True, inner=1)


def products() -> Pair:
    """Products that are enqueued, and the last one waited for: the cores must not lack a hand meanwhile."""
    ours, peer = (_product(768, platform) for platform in ("xpu", "cpu"))

    def twenty(call: Callable[[], Any]) -> Any:
        for _ in range(20):
            last = call()
        return jax.block_until_ready(last)

    return Pair(ours=lambda: twenty(ours), peer=lambda: twenty(peer))


def crossing() -> Pair:
    """A tensor of 1 GB becomes an array and a tensor again: the same memory, and nothing is waited for."""
    import torch

    tensor = torch.zeros(1 << 28, device="xpu")

    def cross() -> Any:
        return torch.from_dlpack(jax.dlpack.from_dlpack(tensor))

    product = _product(2048)()
    if cross().data_ptr() != tensor.data_ptr() or product.is_ready():
        raise AssertionError("the crossing copied or waited for the stream")
    jax.block_until_ready(product)
    return Pair(ours=cross)


def _transformer(platform: str) -> tuple:
    """The compiled step, and its state and tokens."""
    inputs = on(platform, transformer.start(Inputs()))
    return jax.jit(transformer.step(), donate_argnums=0).lower(*inputs).compile(), inputs


def _analyzed(platform: str) -> float:
    """Bytes that a step takes at once by the compiler's word."""
    step, _ = _transformer(platform)
    of = step.memory_analysis()
    parts = of.argument_size_in_bytes, of.output_size_in_bytes, of.temp_size_in_bytes
    return float(sum(parts) - of.alias_size_in_bytes)


def _measured() -> float:
    """Bytes that the pool gave out at most during a step."""
    import xpu_runtime

    gc.collect()
    device = jax.devices("xpu")[0]
    before = device.memory_stats()["bytes_in_use"]
    step, inputs = _transformer("xpu")
    xpu_runtime.memory.reset_peak()
    jax.block_until_ready(step(*inputs))
    return float(device.memory_stats()["peak_bytes_in_use"] - before)


def memory(ours: Callable[[], float]) -> Pair:
    return Pair(ours=ours, peer=lambda: _analyzed("cpu"), self_timed=True, inner=1)


def cases() -> Iterator[Case]:
    name = "host: x + 1 of 8"
    yield Case(name, dispatch, PEER, "<= 4.0")
    yield Case(f"{name}, in microseconds", dispatch, PEER, "<= 25 us")
    yield Case(f"{name}, waited for", answer, PEER)
    yield Case("host: 1,000 calls behind a product", enqueued, "the product", "<= 0.5")
    yield Case("host: 20 products enqueued", products, PEER, ">= 1.0")
    yield Case("host: torch to jax to torch, 1 GB", crossing, bar="<= 50 us")
    name, peer = "memory: transformer step", "XLA CPU's analysis"
    for how, ours in (("by analysis", lambda: _analyzed("xpu")), ("measured", _measured)):

        def setup(ours: Callable[[], float] = ours) -> Pair:
            return memory(ours)

        yield Case(f"{name}, {how}", setup, peer, "<= 1.1", repetitions=1, unit="B")
