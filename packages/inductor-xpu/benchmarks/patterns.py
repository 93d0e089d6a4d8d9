"""Fused patterns: functions, and what makes their inputs on the CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch.nn import functional


def random(*sizes: int, half: bool = False) -> Any:
    return torch.randn(*sizes).to(torch.bfloat16 if half else torch.float32)


def _rotary(q: Any, c: Any, s: Any) -> Any:
    low, high = q[..., :32], q[..., 32:]
    return torch.cat([low * c - high * s, high * c + low * s], -1)


def _added_and_normalized(x: Any, y: Any, w: Any, b: Any) -> Any:
    z = x + y
    return z, functional.layer_norm(z, z.shape[-1:], w, b)


def _gelu_backward(x: Any, g: Any) -> Any:
    return torch.ops.aten.gelu_backward(g, x)


def _batch_norm(x: Any, w: Any, b: Any) -> Any:
    return functional.batch_norm(x, None, None, w, b, training=True)


def _targets(rows: int, classes: int) -> Any:
    return torch.randint(0, classes, (rows,))


PATTERNS: dict[str, tuple[Callable[..., Any], Callable[[], tuple[Any, ...]]]] = {
    "gelu of a sum": (
        lambda x, b: functional.gelu(x + b),
        lambda: (random(8192, 768), random(768)),
    ),
    "gelu of a sum, 1000 wide": (
        lambda x, b: functional.gelu(x + b),
        lambda: (random(8192, 1000), random(1000)),
    ),
    "gelu of a sum, bf16": (
        lambda x, b: functional.gelu(x + b),
        lambda: (random(8192, 768, half=True), random(768, half=True)),
    ),
    "gelu backward": (_gelu_backward, lambda: (random(8192, 768), random(8192, 768))),
    "silu times": (
        lambda x, y: functional.silu(x) * y,
        lambda: (random(4096, 2048), random(4096, 2048)),
    ),
    "silu times, bf16": (
        lambda x, y: functional.silu(x) * y,
        lambda: (random(4096, 4096, half=True), random(4096, 4096, half=True)),
    ),
    "relu of a sum": (
        lambda x, y: functional.relu(x + y),
        lambda: (random(4096, 2048), random(4096, 2048)),
    ),
    "sin, exp, tanh": (
        lambda x: x.sin() * (-x * x).exp() + x.tanh() ** 3,
        lambda: (random(4096, 1024),),
    ),
    "softmax": (lambda x: functional.softmax(x, -1), lambda: (random(4096, 1024),)),
    "softmax, bf16": (
        lambda x: functional.softmax(x, -1),
        lambda: (random(4096, 1024, half=True),),
    ),
    "softmax, 20000 wide": (lambda x: functional.softmax(x, -1), lambda: (random(512, 20000),)),
    "layer norm": (
        lambda x, w, b: functional.layer_norm(x, (768,), w, b),
        lambda: (random(8192, 768), random(768), random(768)),
    ),
    "layer norm of a sum": (
        _added_and_normalized,
        lambda: (random(8192, 1024), random(8192, 1024), random(1024), random(1024)),
    ),
    "layer norm, bf16": (
        lambda x, w, b: functional.layer_norm(x, (768,), w, b),
        lambda: (random(8192, 768, half=True), random(768, half=True), random(768, half=True)),
    ),
    "rms norm": (
        lambda x, w: functional.rms_norm(x, (1024,), w),
        lambda: (random(8192, 1024), random(1024)),
    ),
    "cross entropy": (
        lambda x, t: functional.cross_entropy(x, t),
        lambda: (random(512, 32000), _targets(512, 32000)),
    ),
    "batch norm": (_batch_norm, lambda: (random(16, 64, 56, 56), random(64), random(64))),
    "sum of columns": (lambda x: x.sum(0), lambda: (random(8192, 1024),)),
    "sum of squares": (lambda x: (x * x).sum(), lambda: (random(8 << 20),)),
    "argmax": (lambda x: x.argmax(1), lambda: (random(4096, 1024),)),
    "variance and mean": (lambda x: torch.var_mean(x, 1), lambda: (random(4096, 1024),)),
    "rotary": (
        _rotary,
        lambda: (random(8, 1024, 12, 64), random(1, 1024, 1, 32), random(1, 1024, 1, 32)),
    ),
    "sum with a transposed": (
        lambda x, y: x.t() + y,
        lambda: (random(2048, 2048), random(2048, 2048)),
    ),
    "group norm": (
        lambda x, w, b: functional.group_norm(x, 8, w, b),
        lambda: (random(8, 64, 64, 64), random(64), random(64)),
    ),
}
