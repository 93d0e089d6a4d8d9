"""Functions that Inductor fuses in many ways, with the inputs of each."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F

BF16 = torch.bfloat16


def randn(*sizes: int, dtype: torch.dtype = torch.float32) -> torch.Tensor:
    return torch.randn(*sizes).to(dtype)


def rotary(q: torch.Tensor, c: torch.Tensor, s: torch.Tensor) -> torch.Tensor:
    low, high = q[..., :32], q[..., 32:]
    return torch.cat([low * c - high * s, high * c + low * s], -1)


def integers(low: int, high: int, *sizes: int) -> torch.Tensor:
    return torch.randint(low, high, sizes)


# Inputs have n rows, so that a dynamic program runs with several.
PROGRAMS: dict[str, tuple[Callable[..., Any], Callable[[int], tuple[torch.Tensor, ...]]]] = {
    "add": (lambda x, y: x + y, lambda n: (randn(n, 33), randn(n, 33))),
    "gelu of a sum": (lambda x, b: F.gelu(x + b), lambda n: (randn(n, 768), randn(768))),
    "transcendental": (
        lambda x: torch.sin(x) * torch.exp(-x * x) + torch.tanh(x) ** 3,
        lambda n: (randn(n, 100),),
    ),
    "silu, 16 bits": (
        lambda x, y: F.silu(x) * y,
        lambda n: (randn(n, 100, dtype=BF16), randn(n, 100, dtype=BF16)),
    ),
    "sum of rows": (lambda x: x.sum(1), lambda n: (randn(n, 1000),)),
    "sum of columns": (lambda x: x.sum(0), lambda n: (randn(n, 1000),)),
    "sum of all": (lambda x: (x * x).sum(), lambda n: (randn(n, 1000),)),
    "softmax": (lambda x: F.softmax(x, -1), lambda n: (randn(n, 1000),)),
    "softmax of columns": (lambda x: F.softmax(x, 0), lambda n: (randn(n, 100),)),
    "softmax, 16 bits": (lambda x: F.softmax(x, -1), lambda n: (randn(n, 1000, dtype=BF16),)),
    "layer norm": (
        lambda x, w, b: F.layer_norm(x, (768,), w, b),
        lambda n: (randn(n, 768), randn(768), randn(768)),
    ),
    "rms norm": (lambda x, w: F.rms_norm(x, (768,), w), lambda n: (randn(n, 768), randn(768))),
    "batch norm": (
        lambda x, w, b: F.batch_norm(x, None, None, w, b, training=True),
        lambda n: (randn(n, 16, 7, 9), randn(16), randn(16)),
    ),
    "group norm": (
        lambda x, w, b: F.group_norm(x, 8, w, b),
        lambda n: (randn(n, 16, 7, 9), randn(16), randn(16)),
    ),
    "cross entropy": (
        lambda x, t: F.cross_entropy(x, t),
        lambda n: (randn(n, 1000), integers(0, 1000, n)),
    ),
    "position of the largest": (lambda x: x.argmax(1), lambda n: (randn(n, 1000),)),
    "variance and mean": (lambda x: torch.var_mean(x, 1), lambda n: (randn(n, 1000),)),
    "any": (lambda x: (x > 2).any(1), lambda n: (randn(n, 60),)),
    "rotary": (rotary, lambda n: (randn(2, n, 4, 64), randn(1, n, 1, 32), randn(1, n, 1, 32))),
    "sum with a transposed matrix": (
        lambda x, y: x.t() + y,
        lambda n: (randn(70, n), randn(n, 70)),
    ),
    "rows by index": (lambda x, i: x[i] * 2, lambda n: (randn(n, 80), integers(-n, n, 30))),
    "embedding": (
        lambda w, i: F.embedding(i, w) + 1,
        lambda n: (randn(64, 80), integers(0, 64, 3, n)),
    ),
    "padding": (lambda x: F.pad(x, (1, 2, 3, 4)) * 2, lambda n: (randn(n, 20),)),
    "pooling": (lambda x: F.max_pool2d(x, 2) + 1, lambda n: (randn(n, 3, 16, 16),)),
    "bilinear": (
        lambda x: F.interpolate(x, scale_factor=2, mode="bilinear"),
        lambda n: (randn(n, 3, 8, 8),),
    ),
    "added to rows": (
        lambda x, i, v: x.index_add(0, i, v),
        lambda n: (randn(16, 20), integers(0, 16, n), randn(n, 20)),
    ),
    "bytes added to rows": (
        lambda x, i, v: x.index_add(0, i, v),
        lambda n: (
            integers(0, 250, 16, 21).to(torch.uint8),
            integers(0, 16, n),
            integers(0, 250, n, 21).to(torch.uint8),
        ),
    ),
    "integers": (
        lambda x, y: (x // y, x % y, x << 2, ~x, x * y),
        lambda n: (integers(-50, 50, n, 9), integers(1, 9, n, 9)),
    ),
    "bytes": (
        lambda x, y: (x + y, x ^ y, x > y),
        lambda n: (integers(0, 250, n, 9).to(torch.uint8), integers(0, 250, n, 9).to(torch.uint8)),
    ),
    "mixed types": (
        lambda x, y: torch.where(x > 0, x, y.to(torch.int32)),
        lambda n: (randn(n), randn(n)),
    ),
    "running sum": (lambda x: x.cumsum(1) + 1, lambda n: (randn(n, 60),)),
    "linear": (
        lambda x, w, b: F.gelu(F.linear(x, w, b)),
        lambda n: (randn(n, 60), randn(70, 60), randn(70)),
    ),
}
