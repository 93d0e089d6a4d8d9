"""Kernels divide by multiplication, with reciprocals from the host, which C++ and Python compute."""

import ctypes

import numpy as np
import pytest
from private_library import private_library

from xpu_runtime.codegen.reciprocal import reciprocal_of

MAX_DIVISOR, MAX_DIVIDEND = 2**31, 2**31 - 1
POWERS = {2**k + d for k in range(32) for d in (-1, 0, 1)}
# 2**32 + 1 is a multiple of 641 and 6700417, 2**31 + 1 one of 3 and 715827883.
EDGES = {*range(1, 1000), *POWERS, 641, 6700417, 715827882, 715827883, 2**31 - 2, 3 * 2**29 - 1}
DIVISORS = sorted(d for d in EDGES if 1 <= d <= MAX_DIVISOR)
SOURCE = """
#include <xpu/divide.h>
XPU_KERNEL(1) quotients(xpu::global<int> x, xpu::global<const unsigned> r, long n) {
  long i = xpu::global_id();
  if (i < n) x[i] = xpu::divide(x[i], {r[2 * i], r[2 * i + 1]});
}
"""


def _divisors(count: int) -> list[int]:
    """Return the edges, and random divisors of every size."""
    rng = np.random.default_rng(7)
    return [*DIVISORS, *(int(d) for d in np.exp2(rng.uniform(0, 31, count)))]


def _dividends(divisor: int) -> list[int]:
    """Return the ends of the range, and numbers around multiples of the divisor from end to end."""
    last = MAX_DIVIDEND // divisor
    multiples = {0, 1, 2, 3, last // 3, last // 2, last - 1, last}
    around = {multiple * divisor + d for multiple in multiples for d in (-1, 0, 1)}
    return sorted(n for n in around | {MAX_DIVIDEND - 1, MAX_DIVIDEND} if 0 <= n <= MAX_DIVIDEND)


def test_reciprocals_have_32_bits():
    assert all(1 <= reciprocal_of(divisor)[0] < 2**32 for divisor in _divisors(10_000))


def test_both_hosts_compute_the_same_reciprocals():
    library = private_library("kernels/reciprocal.cpp", "kernels/reciprocal.h")
    library.reciprocal_of.argtypes = [ctypes.c_uint32]
    library.reciprocal_of.restype = ctypes.c_uint64
    for divisor in _divisors(10_000):
        multiplier, shift = reciprocal_of(divisor)
        assert library.reciprocal_of(divisor) == shift << 32 | multiplier


@pytest.mark.values
def test_kernels_divide_exactly(xr):
    pairs = [(n, d) for d in _divisors(10_000) for n in _dividends(d)]
    dividends, divisors = np.array(pairs).T
    reciprocals = np.array([reciprocal_of(int(d)) for d in divisors], np.uint32)
    on_device, count = xr.from_numpy(dividends.astype(np.int32)), len(pairs)
    kernel = xr.compile(SOURCE).kernel("quotients")
    arguments = [on_device, xr.from_numpy(reciprocals), np.int64(count)]
    xr.launch(kernel, -(-count // 64) * 64, 64, arguments)
    np.testing.assert_array_equal(on_device.numpy(), dividends // divisors)
