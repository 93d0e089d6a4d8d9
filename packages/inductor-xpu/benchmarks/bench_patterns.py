"""Fused patterns compiled on xpu, beside stock Inductor's C++ on the CPU, and beside eager on xpu."""

from __future__ import annotations

import os
import types
from collections.abc import Callable, Iterator
from typing import Any

from xpu_bench import Case, Mean, Pair

COMPILED_CPU, EAGER = "torch CPU, compiled", "torch xpu, eager"

# The C++ back end's memory stays, so that the peer does not pay for page faults.
os.environ.setdefault("MALLOC_MMAP_THRESHOLD_", str(4 << 30))
os.environ.setdefault("MALLOC_TRIM_THRESHOLD_", str(4 << 30))


def _torch() -> Any:
    import torch

    torch.set_num_threads(len(os.sched_getaffinity(0)))
    return torch


def _functional() -> Any:
    return _torch().nn.functional


def random(*sizes: int, half: bool = False) -> Any:
    torch = _torch()
    return torch.randn(*sizes).to(torch.bfloat16 if half else torch.float32)


def _rotary(q: Any, c: Any, s: Any) -> Any:
    low, high = q[..., :32], q[..., 32:]
    return _torch().cat([low * c - high * s, high * c + low * s], -1)


def _added_and_normalized(x: Any, y: Any, w: Any, b: Any) -> Any:
    z = x + y
    return z, _functional().layer_norm(z, z.shape[-1:], w, b)


def _gelu_backward(x: Any, g: Any) -> Any:
    return _torch().ops.aten.gelu_backward(g, x)


def _batch_norm(x: Any, w: Any, b: Any) -> Any:
    return _functional().batch_norm(x, None, None, w, b, training=True)


def _targets(rows: int, classes: int) -> Any:
    return _torch().randint(0, classes, (rows,))


F = _functional
PATTERNS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "gelu of a sum": (lambda x, b: F().gelu(x + b), lambda: (random(8192, 768), random(768))),
    "gelu of a sum, 1000 wide": (
        lambda x, b: F().gelu(x + b),
        lambda: (random(8192, 1000), random(1000)),
    ),
    "gelu of a sum, bf16": (
        lambda x, b: F().gelu(x + b),
        lambda: (random(8192, 768, half=True), random(768, half=True)),
    ),
    "gelu backward": (_gelu_backward, lambda: (random(8192, 768), random(8192, 768))),
    "silu times": (lambda x, y: F().silu(x) * y, lambda: (random(4096, 2048), random(4096, 2048))),
    "silu times, bf16": (
        lambda x, y: F().silu(x) * y,
        lambda: (random(4096, 4096, half=True), random(4096, 4096, half=True)),
    ),
    "relu of a sum": (
        lambda x, y: F().relu(x + y),
        lambda: (random(4096, 2048), random(4096, 2048)),
    ),
    "sin, exp, tanh": (
        lambda x: x.sin() * (-x * x).exp() + x.tanh() ** 3,
        lambda: (random(4096, 1024),),
    ),
    "softmax": (lambda x: F().softmax(x, -1), lambda: (random(4096, 1024),)),
    "softmax, bf16": (lambda x: F().softmax(x, -1), lambda: (random(4096, 1024, half=True),)),
    "softmax, 20000 wide": (lambda x: F().softmax(x, -1), lambda: (random(512, 20000),)),
    "layer norm": (
        lambda x, w, b: F().layer_norm(x, (768,), w, b),
        lambda: (random(8192, 768), random(768), random(768)),
    ),
    "layer norm of a sum": (
        _added_and_normalized,
        lambda: (random(8192, 1024), random(8192, 1024), random(1024), random(1024)),
    ),
    "layer norm, bf16": (
        lambda x, w, b: F().layer_norm(x, (768,), w, b),
        lambda: (random(8192, 768, half=True), random(768, half=True), random(768, half=True)),
    ),
    "rms norm": (
        lambda x, w: F().rms_norm(x, (1024,), w),
        lambda: (random(8192, 1024), random(1024)),
    ),
    "cross entropy": (
        lambda x, t: F().cross_entropy(x, t),
        lambda: (random(512, 32000), _targets(512, 32000)),
    ),
    "batch norm": (_batch_norm, lambda: (random(16, 64, 56, 56), random(64), random(64))),
    "sum of columns": (lambda x: x.sum(0), lambda: (random(8192, 1024),)),
    "sum of squares": (lambda x: (x * x).sum(), lambda: (random(8 << 20),)),
    "argmax": (lambda x: x.argmax(1), lambda: (random(4096, 1024),)),
    "variance and mean": (lambda x: _torch().var_mean(x, 1), lambda: (random(4096, 1024),)),
    "rotary": (
        _rotary,
        lambda: (random(8, 1024, 12, 64), random(1, 1024, 1, 32), random(1, 1024, 1, 32)),
    ),
    "sum with a transposed": (
        lambda x, y: x.t() + y,
        lambda: (random(2048, 2048), random(2048, 2048)),
    ),
    "group norm": (
        lambda x, w, b: F().group_norm(x, 8, w, b),
        lambda: (random(8, 64, 64, 64), random(64), random(64)),
    ),
}


def _copy(function: Callable[..., Any], name: str) -> Callable[..., Any]:
    """Return a function with code of its own, since Dynamo keeps what it compiled by code."""
    code = function.__code__.replace(co_name=name)
    return types.FunctionType(code, function.__globals__, name, function.__defaults__)


def _setup(name: str, compiled_peer: bool) -> Callable[[], Pair]:
    function, make = PATTERNS[name]

    def setup() -> Pair:
        torch = _torch()
        torch.manual_seed(0)
        torch._dynamo.reset()
        on_cpu = make()
        on_xpu = tuple(tensor.to("xpu") for tensor in on_cpu)
        ours = torch.compile(_copy(function, "ours"), dynamic=False)
        peer, inputs = function, on_xpu
        if compiled_peer:
            peer, inputs = torch.compile(_copy(function, "peer"), dynamic=False), on_cpu

        def run(call: Callable[..., Any], tensors: tuple[Any, ...]) -> Callable[[], None]:
            def once() -> None:
                with torch.no_grad():
                    call(*tensors)

            once()
            return once

        synchronize = torch.xpu.synchronize
        return Pair(
            ours=run(ours, on_xpu),
            peer=run(peer, inputs),
            sync=synchronize,
            peer_sync=None if compiled_peer else synchronize,
        )

    return setup


def cases() -> Iterator[Case | Mean]:
    for name in PATTERNS:
        yield Case(f"pattern: {name}", _setup(name, True), COMPILED_CPU, ">= 0.95")
    yield Mean("patterns, geometric mean", "pattern: *", ">= 1.25")
    for name in PATTERNS:
        yield Case(f"pattern, eager: {name}", _setup(name, False), EAGER, ">= 0.95")
    yield Mean("patterns beside eager, geometric mean", "pattern, eager: *", ">= 1.2")
