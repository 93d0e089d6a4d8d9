"""Loops of kernels that carry several tiles."""

import pytest
import torch
from kernels import exchange, scan_again


@pytest.mark.values
@pytest.mark.parametrize("size", [4, 16, 128])
@pytest.mark.parametrize("trips", [0, 1, 2, 5])
def test_tiles_that_a_loop_exchanges(size, trips):
    x = torch.arange(3 * size, dtype=torch.int32) * 7 % 31
    a, b, step = x.split(size)
    for trip in range(trips):
        step = (step + trip).cumsum(0).to(torch.int32) % 61
        a, b = (b + step) % 61, a
    first, second = torch.zeros((2, size), dtype=torch.int32, device="xpu")
    exchange[(1,)](x.to("xpu"), first, second, trips, N=size)
    assert torch.equal(first.cpu(), a)
    assert torch.equal(second.cpu(), b)


@pytest.mark.values
@pytest.mark.parametrize("size", [16, 64, 128, 512])
@pytest.mark.parametrize("trips", [1, 2, 4])
def test_a_tile_that_each_trip_reads(size, trips):
    """Nothing after the loop reads it, and the loop's own tiles are of its size and type."""
    x = torch.arange(size, dtype=torch.int32) * 7 % 31
    given, total = x.cumsum(0) % 61, torch.zeros(size, dtype=torch.int64)
    for trip in range(trips):
        step = (given + trip).cumsum(0) % 61
        step = step.cumsum(0) % 61
        total = (total + step.cumsum(0)) % 1000
    out = torch.zeros(size, dtype=torch.int32, device="xpu")
    scan_again[(1,)](x.to("xpu"), out, trips, N=size)
    assert torch.equal(out.cpu(), total.int())
