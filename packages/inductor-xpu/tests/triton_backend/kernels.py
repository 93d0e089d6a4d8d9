"""Small kernels for tests of launches, of compiled functions and of processes."""

import torch
import triton
import triton.language as tl


@triton.jit
def add_kernel(x_ptr, y_ptr, out_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    x, y = tl.load(x_ptr + at, at < count), tl.load(y_ptr + at, at < count)
    tl.store(out_ptr + at, x + y, at < count)


@triton.jit
def double_in_place(x_ptr, count, BLOCK: tl.constexpr):
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    tl.store(x_ptr + at, tl.load(x_ptr + at, at < count) * 2, at < count)


tuned_add = triton.autotune(
    [triton.Config({"BLOCK": 64}), triton.Config({"BLOCK": 256}, num_warps=8)], key=["count"]
)(add_kernel)


@triton.jit
def checked(x_ptr, out_ptr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    x = tl.load(x_ptr + at)
    tl.device_assert(x < 100, "too large")
    tl.store(out_ptr + at, x)


def add(x, y, block=128):
    out = torch.empty_like(x)
    add_kernel[(triton.cdiv(x.numel(), block),)](x, y, out, x.numel(), BLOCK=block)
    return out


def add_tuned(x, y):
    out = torch.empty_like(x)
    tuned_add[lambda meta: (triton.cdiv(x.numel(), meta["BLOCK"]),)](x, y, out, x.numel())
    return out


def double(x):
    double_in_place[(triton.cdiv(x.numel(), 128),)](x, x.numel(), BLOCK=128)


@triton.jit
def exchange(x, first, second, trips, N: tl.constexpr):
    i = tl.arange(0, N)
    a, b, step = tl.load(x + i), tl.load(x + N + i), tl.load(x + 2 * N + i)
    for trip in range(0, trips):
        step = tl.cumsum(step + trip, 0) % 61
        a, b = b, a
        a = (a + step) % 61
    tl.store(first + i, a)
    tl.store(second + i, b)


@triton.jit
def scan_again(x_ptr, out_ptr, trips, N: tl.constexpr):
    i = tl.arange(0, N)
    given = tl.cumsum(tl.load(x_ptr + i), 0) % 61
    total = tl.zeros([N], tl.int32)
    for trip in range(0, trips):
        step = tl.cumsum(given + trip, 0) % 61
        step = tl.cumsum(step, 0) % 61
        total = (total + tl.cumsum(step, 0)) % 1000
    tl.store(out_ptr + i, total)
