"""What the elements of a storage are: made on the host, of a seed."""

from __future__ import annotations

import torch
from generator import Storage


def elements(storage: Storage) -> torch.Tensor:
    """The storage's elements as a vector on the CPU."""
    draw = torch.Generator().manual_seed(storage.seed)
    kind, *numbers = storage.values.split()
    dtype, count = storage.dtype, storage.count
    if kind == "index":
        low, high = map(int, numbers)
        return torch.randint(low, high, (count,), generator=draw).to(dtype)
    if kind == "distinct":
        return (torch.randperm(count, generator=draw) - count // 2).to(dtype)
    if dtype.is_complex:
        part = torch.float64 if dtype == torch.complex128 else torch.float32
        if kind == "special":
            kind = "normal"
        return torch.complex(_real(part, count, kind, draw), _real(part, count, kind, draw)).to(
            dtype
        )
    return _real(dtype, count, kind, draw)


def _real(dtype: torch.dtype, count: int, kind: str, draw: torch.Generator) -> torch.Tensor:
    if dtype == torch.bool:
        return torch.randint(0, 2, (count,), generator=draw).bool()
    if kind == "quarters":
        return (torch.randint(-8, 9, (count,), generator=draw) / 4).to(dtype)
    if kind == "small":
        return torch.randint(0 if dtype == torch.uint8 else -3, 4, (count,), generator=draw).to(
            dtype
        )
    if kind == "positive small":
        return torch.randint(1, 5, (count,), generator=draw).to(dtype)
    if not dtype.is_floating_point:
        return _integers(dtype, count, kind, draw)
    normal = torch.randn(count, generator=draw, dtype=torch.float64)
    if kind in ("unit", "positive"):
        uniform = torch.rand(count, generator=draw, dtype=torch.float64)
        return (
            (uniform * 0.98 + 0.01).to(dtype) if kind == "unit" else (uniform * 3 + 0.1).to(dtype)
        )
    if kind == "wide":
        return (normal * torch.exp2(torch.randint(-12, 12, (count,), generator=draw).double())).to(
            dtype
        )
    if kind in ("special", "nan"):
        info = torch.finfo(dtype)
        inf, nan = float("inf"), float("nan")
        special = [nan, inf, -inf]
        if kind == "special":
            special += [
                0.0,
                -0.0,
                info.max,
                info.min,
                info.tiny,
                info.smallest_normal * 4,
                1.0,
                -1.0,
            ]
            special += [0.5, -0.5, 1.5, 2.5, -2.5, 1 - info.eps, 1 + info.eps, -info.tiny]
        chosen = torch.tensor(special, dtype=torch.float64)
        chosen = chosen[torch.randint(0, len(special), (count,), generator=draw)]
        share = 0.5 if kind == "special" else 0.1
        normal = torch.where(
            torch.rand(count, generator=draw, dtype=torch.float32) < share, chosen, normal
        )
    return normal.to(dtype)


def _integers(dtype: torch.dtype, count: int, kind: str, draw: torch.Generator) -> torch.Tensor:
    info = torch.iinfo(dtype)
    if kind in ("unit", "positive"):
        return torch.randint(1, 9, (count,), generator=draw).to(dtype)
    if kind in ("wide", "special"):
        whole = torch.randint(
            max(info.min, -(2**62)), min(info.max, 2**62) + 1, (count,), generator=draw
        )
        edges = torch.tensor([info.min, info.max, 0, 1, info.max - 1, info.min + 1])
        edges = edges[torch.randint(0, len(edges), (count,), generator=draw)]
        share = 0.4 if kind == "special" else 0.0
        return torch.where(
            torch.rand(count, generator=draw, dtype=torch.float32) < share, edges, whole
        ).to(dtype)
    return torch.randint(0 if dtype == torch.uint8 else -20, 20, (count,), generator=draw).to(dtype)
