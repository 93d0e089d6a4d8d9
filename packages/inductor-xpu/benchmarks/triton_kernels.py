"""Kernels of @triton.jit that bench_triton.py measures."""

from __future__ import annotations

from typing import Any

import torch
import triton
import triton.language as tl


@triton.jit
def increment_kernel(x_ptr, count, BLOCK: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, at < count) + 1, at < count)


def increment(x: torch.Tensor) -> Any:
    return increment_kernel[(1,)](x, x.numel(), BLOCK=1024)


def incremented(x: torch.Tensor) -> torch.Tensor:
    increment_kernel[(1,)](x, x.numel(), BLOCK=1024)
    return x


CONFIGS = [
    triton.Config({"M": m, "N": n, "K": k})
    for m, n, k in ((32, 64, 64), (64, 64, 32), (64, 32, 64))
]


@triton.autotune(CONFIGS, key=["size"])
@triton.jit
def matmul_kernel(a_ptr, b_ptr, c_ptr, size, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):  # type: ignore[no-untyped-def]  # noqa: N803
    columns = size // N
    i = (tl.program_id(0) // columns) * M + tl.arange(0, M)
    j = (tl.program_id(0) % columns) * N + tl.arange(0, N)
    k = tl.arange(0, K)
    total = tl.zeros((M, N), tl.float32)
    for start in range(0, size, K):
        a = tl.load(a_ptr + i[:, None] * size + start + k[None, :])
        b = tl.load(b_ptr + (start + k[:, None]) * size + j[None, :])
        total = tl.dot(a, b, total)
    tl.store(c_ptr + i[:, None] * size + j[None, :], total.to(c_ptr.dtype.element_ty))


def matmul(a: torch.Tensor, b: torch.Tensor) -> torch.Tensor:
    """Return the product of square matrices whose size is a multiple of the tiles'."""
    size = a.shape[0]
    out = torch.empty_like(a)
    matmul_kernel[lambda meta: (size // meta["M"] * (size // meta["N"]),)](a, b, out, size)
    return out
