"""Offsets of kernels beyond 2**31, and arithmetic of 32 bits and fewer, which wraps as it does in Triton."""

import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.values

FAR = 1 << 31


@pytest.fixture(scope="module")
def memory():
    """More than 2 GB, of which the tests touch a few pages."""
    return torch.empty(FAR + (1 << 16), dtype=torch.uint8, device="xpu")


@triton.jit
def copy_from(x_ptr, out_ptr, start, end, BLOCK: tl.constexpr):
    number = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    at = start + number.to(tl.int64)
    tl.store(out_ptr + number, tl.load(x_ptr + at, at < end, other=7))


@triton.jit
def copy_rows(x_ptr, out_ptr, start, stride, rows, columns, R: tl.constexpr, C: tl.constexpr):
    row, column = tl.arange(0, R)[:, None].to(tl.int64), tl.arange(0, C)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + start + row * stride + column, inside, other=7)
    tl.store(out_ptr + row * C + column, x)


@triton.jit
def sum_of_steps(x_ptr, out_ptr, step, trips, BLOCK: tl.constexpr):
    at, total = tl.arange(0, BLOCK), tl.zeros([BLOCK], tl.int32)
    pointers = x_ptr + at
    for _ in range(0, trips):
        total += tl.load(pointers)
        pointers += step
    tl.store(out_ptr + at, total)


# Multiples of 16, with which masks become bounds, and other numbers.
@pytest.mark.parametrize("start", [FAR - 64, FAR - 61, FAR + 48, FAR + 1])
@pytest.mark.parametrize("dtype", [torch.int8, torch.float32])
def test_masked_blocks(memory, start, dtype):
    """For f32, what exceeds 2**31 is the offset in bytes."""
    x = memory.view(dtype)
    first = start // x.itemsize
    values = torch.arange(100, device="xpu").to(dtype)
    x[first : first + 100] = values
    for count in (100, 96, 33):
        out = torch.zeros(128, dtype=dtype, device="xpu")
        copy_from[(2,)](x, out, first, first + count, BLOCK=64)
        assert torch.equal(out[:count], values[:count])
        assert (out[count:] == 7).all()


@pytest.mark.parametrize("stride", [1 << 28, (1 << 28) + 16, (1 << 28) + 3])
@pytest.mark.parametrize("columns", [32, 29])
def test_rows(memory, stride, columns):
    x = memory.view(torch.int8)
    for row in range(8):
        begin = 500 + row * stride
        x[begin : begin + 32] = torch.arange(32, device="xpu") + row
    out = torch.zeros(16, 32, dtype=torch.int8, device="xpu")
    copy_rows[(1,)](x, out, 500, stride, 8, columns, R=16, C=32)
    expected = torch.arange(32) + torch.arange(16)[:, None]
    expected[8:] = 7
    expected[:, columns:] = 7
    assert torch.equal(out.cpu(), expected.to(torch.int8))


def test_pointers_that_advance(memory):
    x, step = memory.view(torch.int32), (1 << 27) + 16
    for trip in range(4):
        x[trip * step : trip * step + 64] = torch.arange(64, device="xpu").int() + trip
    out = torch.zeros(64, dtype=torch.int32, device="xpu")
    sum_of_steps[(1,)](x, out, step, 4, BLOCK=64)
    assert torch.equal(out.cpu(), torch.arange(64).int() * 4 + 6)


@triton.jit
def load_at_sum(x_ptr, out_ptr, a, b, c, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    tl.store(out_ptr + at, tl.load(x_ptr + (at * a + at * b + at * c + at)))


@triton.jit
def load_at_rows(x_ptr, out_ptr, a, b, R: tl.constexpr, C: tl.constexpr):
    row, column = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    at = (row * a + b * row) * 4 + column
    tl.store(out_ptr + row * C + column, tl.load(x_ptr + at))


@triton.jit
def load_at_wide_sum(x_ptr, out_ptr, a, b, c, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    far = (at * a + at * b + at * c + at).to(tl.int64)
    tl.store(out_ptr + at, tl.load(x_ptr + far))


@pytest.mark.parametrize("kernel", [load_at_sum, load_at_wide_sum], ids=["i32", "extended"])
def test_sums_of_32_bits_wrap(kernel):
    """The sum of the factors is 2**32."""
    x = torch.arange(64, dtype=torch.int32, device="xpu")
    out = torch.zeros_like(x)
    kernel[(1,)](x, out, FAR - 1, 1 << 30, (1 << 30) + 1, BLOCK=64)
    assert torch.equal(out, x)


def test_rows_of_32_bits_wrap():
    """A row is 2**32 + 32 elements after the one before."""
    x = torch.arange(256, dtype=torch.int32, device="xpu").view(8, 32)
    out = torch.zeros_like(x)
    load_at_rows[(1,)](x, out, 1 << 30, 8, R=8, C=32)
    assert torch.equal(out, x)


@triton.jit
def wide_products(out_ptr, a, b, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    left = (tl.zeros([BLOCK], tl.int32) + a).to(tl.int64)
    right = (tl.zeros([BLOCK], tl.int32) + b).to(tl.int64)
    tl.store(out_ptr + at, (left * right) // 3)


def test_products_of_64_bits_do_not_wrap():
    out = torch.zeros(32, dtype=torch.int64, device="xpu")
    a, b = 1_000_003, 1_000_033
    wide_products[(1,)](out, a, b, BLOCK=32)
    assert out.tolist() == [a * b // 3] * 32


@triton.jit
def remainders(out_ptr, first, R: tl.constexpr, C: tl.constexpr):
    row, column = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    rows = tl.program_id(0) * R + row + first
    quotient, remainder = (rows * 7919) // 1000, (rows * 7919) % 1000
    at = (tl.program_id(0) * R + row) * C + column
    tl.store(out_ptr + at, quotient * 1000 + remainder + column)
    tl.store(out_ptr + at, remainder + column, column >= C // 2)


def test_quotients_of_what_wrapped():
    out = torch.zeros(128, 16, dtype=torch.int32, device="xpu")
    remainders[(8,)](out, 271_100, R=16, C=16)
    product = (torch.arange(128, dtype=torch.int32) + 271_100) * 7919  # wraps
    column = torch.arange(16, dtype=torch.int32)
    expected = (product[:, None] + column).expand(128, 16).clone()
    expected[:, 8:] = (torch.fmod(product, 1000)[:, None] + column)[:, 8:]
    assert (product < 0).any()
    assert (product > 0).any()
    assert torch.equal(out.cpu(), expected)


@triton.jit
def remainders_of_programs(out_ptr, BLOCK: tl.constexpr, STEP: tl.constexpr):
    rows = tl.program_id(0) * STEP + tl.arange(0, BLOCK)[:, None]
    column = tl.arange(0, 16)[None, :]
    at = (tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)[:, None]) * 16 + column
    tl.store(out_ptr + at, (rows * 7919) % 1000 + column)


def test_remainders_of_what_wrapped():
    """A number of programs is never negative, but its product may be."""
    out = torch.zeros(64, 16, dtype=torch.int32, device="xpu")
    remainders_of_programs[(8,)](out, BLOCK=8, STEP=100_000)
    rows = torch.arange(8)[:, None] * 100_000 + torch.arange(8)
    product = (rows.to(torch.int32) * 7919).view(64, 1)
    expected = torch.fmod(product, 1000) + torch.arange(16)
    assert (product < 0).any()
    assert torch.equal(out.cpu(), expected.to(torch.int32))


@triton.jit
def load_at_bytes(x_ptr, out_ptr, TYPE: tl.constexpr, SHIFT: tl.constexpr, BLOCK: tl.constexpr):
    at = tl.arange(0, BLOCK)
    narrow = at.to(TYPE)
    twice = narrow + narrow + narrow * narrow
    tl.store(out_ptr + at, tl.load(x_ptr + twice.to(tl.int32) + SHIFT))
    tl.store(out_ptr + BLOCK + at, tl.load(x_ptr + SHIFT + twice))


@pytest.mark.parametrize(("dtype", "shift", "size"), [("int8", 128, 128), ("int16", 1 << 15, 512)])
def test_narrow_integers_wrap(dtype, shift, size):
    x = torch.arange(2 * shift, dtype=torch.int32, device="xpu")
    out = torch.zeros(2, size, dtype=torch.int32, device="xpu")
    load_at_bytes[(1,)](x, out, TYPE=getattr(tl, dtype), SHIFT=shift, BLOCK=size)
    narrow = torch.arange(size).to(getattr(torch, dtype))
    expected = (narrow + narrow + narrow * narrow).int() + shift
    assert torch.equal(out.cpu(), expected.expand(2, size))


@triton.jit
def quotients_in_a_loop(x_ptr, out_ptr, a, b, columns, R: tl.constexpr, C: tl.constexpr):
    row = tl.program_id(0) * R + tl.arange(0, R)[:, None]
    column = tl.arange(0, C)[None, :]
    source = (row // a) % b
    total = tl.zeros([R, C], tl.int32)
    for first in range(0, columns, C):
        x = tl.load(x_ptr + source * columns + first + column)
        total = tl.cumsum(total + x, 1) % 1000
    tl.store(out_ptr + row * C + column, total)


def test_quotients_of_quotients_before_a_loop():
    """They are the same in each trip, and computed before the loop or again."""
    x = torch.arange(5 * 96, dtype=torch.int32).view(5, 96) % 91
    out = torch.zeros(128, 32, dtype=torch.int32, device="xpu")
    quotients_in_a_loop[(2,)](x.to("xpu"), out, 3, 5, 96, R=64, C=32)
    expected = torch.zeros(128, 32, dtype=torch.int64)
    for part in x[torch.arange(128) // 3 % 5].split(32, 1):
        expected = (expected + part).cumsum(1) % 1000
    assert torch.equal(out.cpu(), expected.int())
