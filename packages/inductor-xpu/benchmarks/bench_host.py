"""What a compiled call costs the host: the launch of a kernel, a call of one kernel, a step of one token."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

from bench_patterns import COMPILED_CPU
from xpu_bench import Case, Pair

LAUNCHES = 100
ALLOWANCE = 1e-6  # what a launch from compiled code may add to one of the runtime


def _softmax_of_sine(x: Any) -> Any:
    return x.sin().softmax(-1)


def _each(launch: Callable[[], object]) -> float:
    """Seconds that the host needs for one of many launches."""
    import torch

    torch.xpu.synchronize()
    begin = time.perf_counter()
    for _ in range(LAUNCHES):
        launch()
    seconds = (time.perf_counter() - begin) / LAUNCHES
    torch.xpu.synchronize()
    return seconds


def dynamic_launch() -> Pair:
    """The launch of a kernel with sizes as arguments; one with fixed sizes is the runtime's own."""
    import torch
    from torch._inductor.codecache import PyCodeCache
    from torch._inductor.utils import fresh_cache

    x = torch.randn(50, 300, device="xpu")
    with fresh_cache():
        torch.compile(_softmax_of_sine, dynamic=True)(x)
        module = PyCodeCache.modules[-1]
    (kernel,) = (value for name, value in vars(module).items() if name.startswith("sycl_"))
    values = tuple({"n0": x.shape[1], "n1": x.shape[0]}[symbol] for symbol in kernel.symbols)
    groups, sizes = kernel.division.launch(dict(zip(kernel.symbols, values, strict=True)))
    out = torch.empty_like(x)
    plain = (groups * kernel.group, kernel.group, x, out, *values, *sizes)
    return Pair(
        ours=lambda: _each(lambda: kernel(values, x, out)),
        peer=lambda: _each(lambda: kernel.launcher(*plain)) + ALLOWANCE,
        self_timed=True,
        inner=20,
    )


def call_of_one_kernel() -> Pair:
    import torch

    on_cpu = torch.randn(64)
    on_xpu = on_cpu.to("xpu")
    with torch.no_grad():
        ours, peer = torch.compile(lambda x: x.sin() + 1), torch.compile(lambda x: x.sin() + 1)
        ours(on_xpu)
        peer(on_cpu)
    return Pair(
        ours=lambda: _each(lambda: ours(on_xpu)),
        peer=lambda: _each(lambda: peer(on_cpu)),
        self_timed=True,
        inner=20,
    )


def one_token(whole: bool) -> Pair:
    """A step that makes one token of one text, captured and in the default mode."""
    import torch
    from gpt import GPT

    torch.manual_seed(0)
    token = torch.zeros(1, 1, dtype=torch.long, device="xpu")
    position = torch.zeros(1, dtype=torch.long, device="xpu")

    def in_mode(mode: str) -> Callable[[], float]:
        net = GPT(layers=6, width=256, words=1000, length=128).to("xpu").eval()
        step = torch.compile(net, mode=mode)

        def seconds() -> float:
            torch.xpu.synchronize()
            begin = time.perf_counter()
            with torch.no_grad():
                step(token, position=position)
            host = time.perf_counter() - begin
            torch.xpu.synchronize()
            return time.perf_counter() - begin if whole else host

        for _ in range(5):  # compiles, then captures
            seconds()
        return seconds

    ours, peer = in_mode("reduce-overhead"), in_mode("default")
    return Pair(ours=ours, peer=peer, self_timed=True, inner=10)


def cases() -> Iterator[Case]:
    yield Case("host: a dynamic launch", dynamic_launch, "the runtime's + 1 us", "<= 1.0")
    yield Case("host: a call of one kernel", call_of_one_kernel, COMPILED_CPU)
    token, peer = "host: a token, reduce-overhead", "the default mode"
    yield Case(token, partial(one_token, False), peer, "<= 0.5")
    yield Case(f"{token}, to its end", partial(one_token, True), peer, "<= 0.8")
