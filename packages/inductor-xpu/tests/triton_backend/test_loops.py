"""Loops of kernels that carry several tiles."""

import pytest
import torch
from kernels import exchange


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
