"""Kernels by way of Triton: Inductor's patterns, beside stock C++ and our own loops; products; launches.

Needs the extra of Triton.
"""

from __future__ import annotations

import importlib.util
from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import torch
from bench_host import ALLOWANCE, _each
from bench_patterns import COMPILED_CPU, _copy
from patterns import PATTERNS
from xpu_bench import Case, Mean, Pair

OWN_LOOPS = "torch xpu, our own loops"
# What a launch as kernel[grid](...) may add to one of the runtime, in seconds.
EAGER_ALLOWANCE = 6e-6
SIZE = 1024


def _by_triton(function: Callable[..., Any], inputs: tuple[Any, ...]) -> Callable[[], None]:
    import inductor_xpu.settings

    call = torch.compile(_copy(function, "by_triton"), dynamic=False)
    with inductor_xpu.settings.patch(reader="triton"), torch.no_grad():
        call(*inputs)

    def once() -> None:
        with torch.no_grad():
            call(*inputs)

    return once


def pattern(name: str, beside_loops: bool) -> Pair:
    """A pattern by way of Triton, beside the C++ of the CPU or our own loops."""
    function, make = PATTERNS[name]
    torch.manual_seed(0)
    torch._dynamo.reset()
    on_cpu = make()
    on_xpu = tuple(tensor.to("xpu") for tensor in on_cpu)
    ours = _by_triton(function, on_xpu)
    peer = torch.compile(_copy(function, "peer"), dynamic=False)
    inputs = on_xpu if beside_loops else on_cpu

    def run_peer() -> None:
        with torch.no_grad():
            peer(*inputs)

    run_peer()
    synchronize = torch.xpu.synchronize
    return Pair(
        ours=ours,
        peer=run_peer,
        sync=synchronize,
        peer_sync=synchronize if beside_loops else None,
    )


def product(dtype: torch.dtype) -> Pair:
    """A product of Triton's tl.dot beside eager mode's, which is oneDNN's."""
    import triton_kernels

    a, b = torch.randn(2, SIZE, SIZE, device="xpu").to(dtype)
    triton_kernels.matmul(a, b)
    return Pair(
        ours=lambda: triton_kernels.matmul(a, b),
        peer=lambda: a @ b,
        sync=torch.xpu.synchronize,
        peer_sync=torch.xpu.synchronize,
    )


def launch(compiled: bool) -> Pair:
    """A launch as a program or compiled code makes it, beside one of the runtime with its allowance."""
    import triton_kernels
    from torch._inductor.codecache import PyCodeCache
    from torch._inductor.utils import fresh_cache

    x = torch.zeros(1000, device="xpu")
    call = partial(triton_kernels.increment, x)
    kernel = call()
    runtime = partial(
        kernel.function.launcher, (1, 1, kernel.metadata.group), (1, 1, kernel.metadata.group)
    )
    if compiled:
        with fresh_cache():
            function = torch.compile(triton_kernels.incremented)
            for _ in range(3):
                function(x)
            module = PyCodeCache.modules[-1]
        (tuned,) = (v for name, v in vars(module).items() if name.startswith("increment"))
        call = partial(tuned.run, x, 1000, 1, 1, 1, stream=0)
    allowance = ALLOWANCE if compiled else EAGER_ALLOWANCE
    return Pair(
        ours=lambda: _each(call),
        peer=lambda: _each(lambda: runtime(x, 1000)) + allowance,
        self_timed=True,
        inner=20,
    )


def cases() -> Iterator[Case | Mean]:
    if importlib.util.find_spec("triton") is None:
        return
    for name in PATTERNS:
        yield Case(f"by triton: {name}", partial(pattern, name, False), COMPILED_CPU)
    yield Mean("by triton, geometric mean", "by triton: *", ">= 1.0")
    for name in PATTERNS:
        yield Case(f"triton / loops: {name}", partial(pattern, name, True), OWN_LOOPS)
    yield Mean("triton / loops, geometric mean", "triton / loops: *", ">= 0.75")
    yield Case("tl.dot, f32", partial(product, torch.float32), "torch xpu, eager", ">= 0.7")
    if torch.xpu.get_device_properties().has_subgroup_matrix_multiply_accumulate:
        yield Case("tl.dot, bf16", partial(product, torch.bfloat16), "torch xpu, eager", ">= 0.5")
    yield Case("launch, kernel[grid]", partial(launch, False), "the runtime's + 6 us", "<= 1.0")
    yield Case("launch, compiled", partial(launch, True), "the runtime's + 1 us", "<= 1.0")
