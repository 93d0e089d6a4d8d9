"""Reciprocals of divisors of kernels: device/xpu/divide.h has the formula and its proof."""

from __future__ import annotations


def reciprocal_of(divisor: int) -> tuple[int, int]:
    """Return the multiplier and the shift for a divisor from 1 to 2**31."""
    shift = (divisor - 1).bit_length()
    return -(-(1 << (31 + shift)) // divisor), shift
