"""Kernels that depend on the order of elements: scans, sorts, indexing, random fills; beside PyTorch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator

from xpu_bench import Case, Pair


def modules():
    """Ours, numpy, and torch held to the same threads."""
    import numpy as np
    import torch

    import xpu_runtime as xr

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    return xr, np, torch


def scan_case(name: str, op: str, shape: tuple[int, ...], dim: int, bar: str | None) -> Case:
    def setup() -> Pair:
        xr, _, torch = modules()
        host = torch.rand(shape)
        x, out = xr.from_numpy(host.numpy()), xr.empty(shape)
        ours, peer = getattr(xr.kernels, op), getattr(torch, op)
        return Pair(
            ours=lambda: ours(out, x, dim),
            peer=lambda: peer(host, dim),
            sync=xr.synchronize,
        )

    return Case(name, setup, peer_name="torch", bar=bar)


def fill_case(name: str, ours: str, peer: Callable, dtype: str, n: int) -> Case:
    def setup() -> Pair:
        xr, _, torch = modules()
        out, target = (
            xr.empty(n, dtype),
            torch.empty(n, dtype=getattr(torch, {"f32": "float32", "i64": "int64"}[dtype])),
        )
        fill = getattr(xr.kernels, ours)
        arguments = (0, 100) if ours == "integers" else (0.5,) if ours == "bernoulli" else ()
        return Pair(
            ours=lambda: fill(out, *arguments), peer=lambda: peer(target), sync=xr.synchronize
        )

    return Case(name, setup, peer_name="torch")


def sort_case(
    name: str, shape: tuple[int, ...], dtype: str, k: int | None, bar: str | None
) -> Case:
    """Values and i64 positions along the last dimension; the `k` largest when it is given."""

    def setup() -> Pair:
        xr, np, torch = modules()
        rng = np.random.default_rng(0)
        ends = -(2**62), 2**62
        host = rng.integers(*ends, shape) if dtype == "i64" else rng.random(shape, np.float32)
        x, peer = xr.from_numpy(host), torch.from_numpy(host)
        out = shape if k is None else (*shape[:-1], k)
        values, indices = xr.empty(out, dtype), xr.empty(out, "i64")
        if k is None:
            return Pair(
                ours=lambda: xr.kernels.sort(values, indices, x),
                peer=lambda: torch.sort(peer),
                sync=xr.synchronize,
            )
        return Pair(
            ours=lambda: xr.kernels.topk(values, indices, x, k),
            peer=lambda: torch.topk(peer, k),
            sync=xr.synchronize,
        )

    return Case(name, setup, peer_name="torch", bar=bar)


def comparison_case(name: str, n: int) -> Case:
    """Keys with positions by an expression, beside the stable sort that knows its keys."""

    def setup() -> Pair:
        xr, np, torch = modules()
        host = np.random.default_rng(0).random(n, np.float32)
        operands = [xr.from_numpy(host), xr.from_numpy(np.arange(n))]
        outs = [xr.empty(n), xr.empty(n, "i64")]
        sort, peer = xr.kernels.ComparisonSort("ascending", "a0 < b0"), torch.from_numpy(host)
        return Pair(
            ours=lambda: sort(outs, operands),
            peer=lambda: torch.sort(peer, stable=True),
            sync=xr.synchronize,
        )

    return Case(name, setup, peer_name="torch, stable")


def cases() -> Iterator[Case]:
    yield sort_case("sort f32 1M", (1 << 20,), "f32", None, ">= 1.0")
    yield sort_case("sort i64 1M", (1 << 20,), "i64", None, ">= 1.0")
    yield sort_case("sort f32 4096x1024 rows", (4096, 1024), "f32", None, ">= 1.0")
    yield sort_case("sort f32 65536x16 rows", (65536, 16), "f32", None, ">= 1.0")
    yield comparison_case("sort by expression 1M", 1 << 20)
    yield sort_case("topk f32 1M k=100", (1 << 20,), "f32", 100, ">= 1.0")
    yield sort_case("topk f32 1M k=10000", (1 << 20,), "f32", 10000, None)
    yield sort_case("topk f32 4096x1024 k=10", (4096, 1024), "f32", 10, None)
    yield scan_case("cumsum f32 16M", "cumsum", (1 << 24,), 0, ">= 1.0")
    yield scan_case("cumsum f32 4096x4096 rows", "cumsum", (4096, 4096), 1, ">= 1.0")
    yield scan_case("cumsum f32 4096x4096 columns", "cumsum", (4096, 4096), 0, ">= 1.0")
    yield scan_case("cumsum f32 65536x256 rows", "cumsum", (65536, 256), 1, ">= 1.0")
    yield scan_case("logcumsumexp f32 1M", "logcumsumexp", (1 << 20,), 0, None)
    yield fill_case("uniform f32 16M", "uniform", lambda t: t.uniform_(), "f32", 1 << 24)
    yield fill_case("normal f32 16M", "normal", lambda t: t.normal_(), "f32", 1 << 24)
    yield fill_case("exponential f32 4M", "exponential", lambda t: t.exponential_(), "f32", 1 << 22)
    yield fill_case("bernoulli f32 4M", "bernoulli", lambda t: t.bernoulli_(0.5), "f32", 1 << 22)
    yield fill_case("integers i64 4M", "integers", lambda t: t.random_(0, 100), "i64", 1 << 22)
