"""Indices that are quotients and remainders: lanes share one, are neighbors, or jump once in a vector."""

import pytest
import torch
import triton
import triton.language as tl

pytestmark = pytest.mark.values

# Multiples of a vector, smaller than one, and others.
DIVISORS = [1, 3, 15, 16, 17, 24, 31, 100, 768, 1000]


@triton.jit
def divide_kernel(
    table, out, bounds, size, DIVISOR: tl.constexpr, BLOCK: tl.constexpr, WIDE: tl.constexpr
):
    """Load by remainder and by quotient, and compare both with bounds."""
    at = tl.program_id(0) * BLOCK + tl.arange(0, BLOCK)
    if WIDE:
        at = at.to(tl.int64)
    remainder, quotient = at % DIVISOR, at // DIVISOR
    mask = at < size
    found = tl.load(table + remainder, mask, other=-1)
    found += 10_000 * tl.load(table + quotient, mask & (quotient < DIVISOR), other=7)
    bound = tl.load(bounds)
    found += tl.where(remainder >= 16, 100_000_000, 0) + tl.where(
        remainder >= bound, 200_000_000, 0
    )
    tl.store(out + quotient * DIVISOR + remainder, found, mask)


@pytest.mark.parametrize("wide", [False, True])
@pytest.mark.parametrize("block", [16, 512])
@pytest.mark.parametrize("divisor", DIVISORS)
def test_loads_by_quotient_and_remainder(divisor, block, wide):
    size, bound = 2 * divisor + 1500, 5
    table = torch.arange(1, divisor + 1)
    out = torch.zeros(size, dtype=torch.int64, device="xpu")
    bounds = torch.tensor(bound, device="xpu")
    grid = (triton.cdiv(size, block),)
    divide_kernel[grid](table.to("xpu"), out, bounds, size, DIVISOR=divisor, BLOCK=block, WIDE=wide)
    at = torch.arange(size)
    remainder, quotient = at % divisor, at // divisor
    by_quotient = torch.where(
        quotient < divisor, table[quotient.clamp(max=divisor - 1)], torch.tensor(7)
    )
    wanted = table[remainder] + 10_000 * by_quotient
    wanted += 100_000_000 * (remainder >= 16) + 200_000_000 * (remainder >= bound)
    assert torch.equal(out.cpu(), wanted)


@triton.jit
def columns_kernel(x, out, COLUMNS: tl.constexpr, XBLOCK: tl.constexpr, ROWS: tl.constexpr):
    """Sum columns of a batch of matrices, as Inductor writes it."""
    at = (tl.program_id(0) * XBLOCK + tl.arange(0, XBLOCK))[:, None]
    column, batch = at % COLUMNS, at // COLUMNS
    row = tl.arange(0, ROWS)[None, :]
    values = tl.load(x + batch * (COLUMNS * ROWS) + row * COLUMNS + column)
    tl.store(out + at, tl.sum(values, 1)[:, None])


@pytest.mark.parametrize("columns", [16, 24, 48])
def test_lanes_go_along_contiguous_columns(columns):
    x = torch.randint(-9, 9, (4, 32, columns)).float()
    out = torch.zeros(4, columns, device="xpu")
    compiled = columns_kernel[(4 * columns // 16,)](
        x.to("xpu"), out, COLUMNS=columns, XBLOCK=16, ROWS=32
    )
    assert torch.equal(out.cpu(), x.sum(1))
    # Work-items each sum a column of their own.
    assert "shuffle(" not in compiled.asm["sycl"].decode()
