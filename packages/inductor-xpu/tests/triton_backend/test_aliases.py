"""Kernels whose arguments are the same memory: what one stores, the other loads, in the program's order."""

import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.values

SIZE = 256


@triton.jit
def load_again(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    before = tl.load(x_ptr + i)
    tl.store(y_ptr + i, before * 2)
    tl.store(out_ptr + i, before + tl.load(x_ptr + i))


@triton.jit
def load_early(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, tl.zeros([N], tl.int32))
    tl.store(out_ptr + i, x)


@triton.jit
def load_masked(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i, i % 3 != 0, other=5)
    tl.store(y_ptr + i, x + 1, i % 2 == 0)
    tl.store(out_ptr + i, x + tl.load(x_ptr + i, i < 100, other=0))


@triton.jit
def store_scalars(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    first = tl.load(x_ptr + 7)
    tl.debug_barrier()
    tl.store(y_ptr + 7, first + 100)
    tl.debug_barrier()
    second = tl.load(x_ptr + 7)
    tl.store(out_ptr + i, tl.load(x_ptr + i) + first * 1000 + second)


@triton.jit
def repeat(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    total = tl.zeros([N], tl.int32)
    for trip in range(0, 3):
        x = tl.load(x_ptr + i)
        tl.store(y_ptr + i, x + trip)
        total += x
    tl.store(out_ptr + i, total)


@triton.jit
def repeat_while(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    before = tl.load(x_ptr + i)
    while tl.load(x_ptr + 9) < 40:
        tl.debug_barrier()
        tl.store(y_ptr + i, tl.load(x_ptr + i) + 11)
        tl.debug_barrier()
    tl.store(out_ptr + i, before - tl.load(x_ptr + i))


@triton.jit
def store_in_a_branch(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    third = tl.load(x_ptr + 3)
    tl.debug_barrier()
    if third == 3:
        tl.store(y_ptr + i, x * 3)
    else:
        tl.store(y_ptr + i, x * 0)
    tl.store(out_ptr + i, x + tl.load(x_ptr + i))


@triton.jit
def transpose(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i, j = tl.arange(0, N // 16)[:, None], tl.arange(0, 16)[None, :]
    x = tl.load(x_ptr + i * 16 + j)
    tl.debug_barrier()
    tl.store(y_ptr + j * (N // 16) + i, x)
    tl.debug_barrier()
    tl.store(out_ptr + i * 16 + j, tl.load(x_ptr + i * 16 + j))


@triton.jit
def reverse(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + N - 1 - i)
    tl.debug_barrier()
    tl.store(y_ptr + i, x)
    tl.debug_barrier()
    tl.store(out_ptr + i, x - tl.load(x_ptr + N - 1 - i))


@triton.jit
def add_atomically(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    before = tl.load(x_ptr + i)
    found = tl.atomic_add(y_ptr + i, 5)
    tl.store(out_ptr + i, tl.load(x_ptr + i) * 1000 + before * 10 + found)


@triton.jit
def scan(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x = tl.load(x_ptr + i)
    tl.store(y_ptr + i, tl.cumsum(x, 0) - tl.max(x, 0))
    tl.debug_barrier()
    tl.store(out_ptr + i, tl.load(x_ptr + N - 1 - i))


@triton.jit(noinline=True)
def store_apart(ptr, x):
    tl.store(ptr, x + 3)


@triton.jit
def call(x_ptr, y_ptr, out_ptr, N: tl.constexpr):
    i = tl.arange(0, N)
    x, fifth = tl.load(x_ptr + i), tl.load(x_ptr + 5)
    tl.debug_barrier()
    store_apart(y_ptr + 5, fifth)
    tl.debug_barrier()
    tl.store(out_ptr + i, x + 2 * tl.load(x_ptr + i))


X = torch.arange(SIZE, dtype=torch.int32)
MASKED = torch.where(X % 3 != 0, X, 5)
STORED = torch.where(X % 2 == 0, MASKED + 1, X)
SEVEN = X.index_fill(0, torch.tensor([7]), 107)
FIFTH = X.index_fill(0, torch.tensor([5]), 8)
TURNED = X.view(16, 16).t().reshape(-1)
SCANNED = X.cumsum(0).int() - 255
# What the memory has after the kernel, and what the kernel has read.
EXPECTED = {
    load_again: (X * 2, X * 3),
    load_early: (X * 0, X),
    load_masked: (STORED, MASKED + torch.where(X < 100, STORED, 0)),
    store_scalars: (SEVEN, SEVEN + 7000 + 107),
    repeat: (X + 3, X * 3 + 1),
    repeat_while: (X + 33, X * 0 - 33),
    store_in_a_branch: (X * 3, X * 4),
    transpose: (TURNED, TURNED),
    reverse: (X.flip(0), X.flip(0) - X),
    add_atomically: (X + 5, (X + 5) * 1000 + X * 11),
    scan: (SCANNED, SCANNED.flip(0)),
    call: (FIFTH, X + 2 * FIFTH),
}


@pytest.mark.parametrize("several", [False, True], ids=["one sub-group", "several sub-groups"])
@pytest.mark.parametrize("kernel", EXPECTED, ids=lambda kernel: kernel.fn.__name__)
def test_one_memory_under_two_names(kernel, several, request):
    if several:
        request.getfixturevalue("several_sub_groups")
    x, out = X.to("xpu"), torch.zeros(SIZE, dtype=torch.int32, device="xpu")
    memory, read = EXPECTED[kernel]
    # Kernels of other tests are of one sub-group, so each has its own.
    own = triton.jit(kernel.fn)
    own[(1,)](x, x, out, N=SIZE)
    assert torch.equal(out.cpu(), read)
    assert torch.equal(x.cpu(), memory)


@triton.jit
def softmax_rows(x_ptr, out_ptr, columns, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    row = tl.program_id(0) * columns
    x = tl.load(x_ptr + row + at, at < columns, other=-float("inf"))
    e = tl.exp(x - tl.max(x, 0))
    tl.store(out_ptr + row + at, e / tl.sum(e, 0), at < columns)


def test_softmax_in_place():
    x = torch.randn(30, 333, device="xpu")
    expected = torch.softmax(x, 1)
    softmax_rows[(30,)](x, x, 333, BLOCK=512)
    torch.testing.assert_close(x, expected)
