"""Gathers, scatters and masks, beside PyTorch."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterator
from typing import Any

from xpu_bench import Case, Pair


def modules() -> tuple[Any, Any]:
    """Ours, and torch held to the same threads."""
    import torch

    import xpu_runtime as xr

    torch.set_num_threads(int(os.environ.get("OMP_NUM_THREADS", "2")))
    return xr, torch


def case(
    name: str, prepare: Callable[[Any, Any], tuple[Callable, Callable]], bar: str | None = ">= 1.0"
) -> Case:
    """``prepare(xr, torch)`` gives our call and torch's."""

    def setup() -> Pair:
        xr, torch = modules()
        ours, peer = prepare(xr, torch)
        return Pair(ours=ours, peer=peer, sync=xr.synchronize)

    return Case(name, setup, peer_name="torch", bar=bar)


def on_device(xr: Any, tensor: Any) -> Any:
    return xr.from_numpy(tensor.numpy())


def index_select(rows: int, columns: int, picks: int) -> Callable:
    def prepare(xr: Any, torch: Any) -> tuple[Callable, Callable]:
        x, at = torch.rand(rows, columns), torch.randint(rows, (picks,))
        table, index, out = on_device(xr, x), on_device(xr, at), xr.empty((picks, columns))
        result = torch.empty(picks, columns)
        return (
            lambda: xr.kernels.index_select(out, table, 0, index),
            lambda: torch.index_select(x, 0, at, out=result),
        )

    return prepare


def gather(shape: tuple[int, int], dim: int) -> Callable:
    def prepare(xr: Any, torch: Any) -> tuple[Callable, Callable]:
        x, at = torch.rand(shape), torch.randint(shape[dim], shape)
        source, index, out = on_device(xr, x), on_device(xr, at), xr.empty(shape)
        result = torch.empty(shape)
        return (
            lambda: xr.kernels.gather(out, source, dim, index),
            lambda: torch.gather(x, dim, at, out=result),
        )

    return prepare


def scatter(
    shape: tuple[int, int], dim: int, combine: str, deterministic: bool = False
) -> Callable:
    def prepare(xr: Any, torch: Any) -> tuple[Callable, Callable]:
        x, at = torch.rand(shape), torch.randint(shape[dim], shape)
        source, index, out = on_device(xr, x), on_device(xr, at), xr.zeros(shape)
        result = torch.zeros(shape)
        peer = result.scatter_ if combine == "replace" else result.scatter_add_
        return (
            lambda: xr.kernels.scatter(
                out, dim, index, source, combine, deterministic=deterministic
            ),
            lambda: peer(dim, at, x),
        )

    return prepare


def index_add(rows: int, columns: int, updates: int, deterministic: bool = False) -> Callable:
    def prepare(xr: Any, torch: Any) -> tuple[Callable, Callable]:
        x, at = torch.rand(updates, columns), torch.randint(rows, (updates,))
        source, index, out = on_device(xr, x), on_device(xr, at), xr.zeros((rows, columns))
        result = torch.zeros(rows, columns)
        return (
            lambda: xr.kernels.index_combine(
                out, 0, index, source, "add", deterministic=deterministic
            ),
            lambda: result.index_add_(0, at, x),
        )

    return prepare


def embedding_backward(rows: int, columns: int, updates: int) -> Callable:
    def prepare(xr: Any, torch: Any) -> tuple[Callable, Callable]:
        x, at = torch.rand(updates, columns), torch.randint(rows, (updates,))
        source, index, out = on_device(xr, x), on_device(xr, at), xr.zeros((rows, columns))
        peer = torch.ops.aten.embedding_dense_backward
        return (
            lambda: xr.kernels.embedding_backward(out, source, index),
            lambda: peer(x, at, rows, -1, False),
        )

    return prepare


def index_two(shape: tuple[int, int], picks: int) -> Callable:
    def prepare(xr: Any, torch: Any) -> tuple[Callable, Callable]:
        x = torch.rand(shape)
        at = [torch.randint(-n, n, (picks,)) for n in shape]
        source, index, out = on_device(xr, x), [on_device(xr, i) for i in at], xr.empty(picks)
        return lambda: xr.kernels.index(source, index, out), lambda: x[at[0], at[1]]

    return prepare


def index_put(shape: tuple[int, int], picks: int) -> Callable:
    def prepare(xr: Any, torch: Any) -> tuple[Callable, Callable]:
        x, values = torch.zeros(shape), torch.rand(picks)
        at = [torch.randint(n, (picks,)) for n in shape]
        target, index = on_device(xr, x), [on_device(xr, i) for i in at]
        source = on_device(xr, values)
        return (
            lambda: xr.kernels.index_put(target, index, source, "add"),
            lambda: x.index_put_(at, values, accumulate=True),
        )

    return prepare


def nonzero(n: int, share: float) -> Callable:
    def prepare(xr: Any, torch: Any) -> tuple[Callable, Callable]:
        x = torch.rand(n) < share
        mask = on_device(xr, x)
        return lambda: xr.kernels.nonzero(mask), lambda: torch.nonzero(x)

    return prepare


def masked_select(n: int, share: float) -> Callable:
    def prepare(xr: Any, torch: Any) -> tuple[Callable, Callable]:
        values, chosen = torch.rand(n), torch.rand(n) < share
        x, mask = on_device(xr, values), on_device(xr, chosen)
        return (
            lambda: xr.kernels.masked_select(x, mask),
            lambda: torch.masked_select(values, chosen),
        )

    return prepare


def cases() -> Iterator[Case]:
    yield case("index_select f32 50000x768, 8192 rows", index_select(50000, 768, 8192))
    yield case("index_select f32 100000x16, 262144 rows", index_select(100_000, 16, 1 << 18))
    yield case("index_select f32 10000x4096, 64 rows", index_select(10_000, 4096, 64))
    yield case("gather f32 4096x4096 along rows", gather((4096, 4096), 1))
    yield case("gather f32 4096x4096 along columns", gather((4096, 4096), 0))
    yield case("scatter f32 2048x2048 along rows", scatter((2048, 2048), 1, "replace"))
    yield case("scatter add f32 2048x2048 along rows", scatter((2048, 2048), 1, "add"))
    yield case(
        "scatter add f32 2048x2048 along rows, deterministic",
        scatter((2048, 2048), 1, "add", True),
        None,
    )
    yield case("index add f32 50000x256, 16384 rows", index_add(50_000, 256, 16384))
    yield case("index add f32 1000000, 262144 elements", index_add(1_000_000, 1, 1 << 18))
    yield case(
        "embedding backward f32 50000x256, 16384 rows", embedding_backward(50_000, 256, 16384)
    )
    yield case("index f32 2048x2048, two tensors of 1M", index_two((2048, 2048), 1 << 20))
    yield case("index_put add f32 2048x2048, two tensors of 1M", index_put((2048, 2048), 1 << 20))
    yield case("nonzero 16M, half", nonzero(1 << 24, 0.5))
    yield case("nonzero 16M, 1 in 1000", nonzero(1 << 24, 0.001))
    yield case("masked_select f32 16M, half", masked_select(1 << 24, 0.5))
