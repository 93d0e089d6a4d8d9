"""Data for sorts and selections, and what they must give."""

from __future__ import annotations

import numpy as np
from layouts import INTEGERS, NUMPY


def numbers(rng, shape, dtype):
    """Values with many equal ones, the extremes of the dtype, and NaNs, infinities and both zeros."""
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if dtype in INTEGERS:
        info = np.iinfo(NUMPY[dtype])
        wide = rng.integers(info.min, info.max, shape, NUMPY[dtype], endpoint=True)
        return np.where(rng.random(shape) < 0.5, wide, wide % 7).astype(NUMPY[dtype])
    values = np.where(
        rng.random(shape) < 0.5, rng.standard_normal(shape) * 100, rng.integers(-3, 3, shape)
    )
    for special in (np.nan, -np.nan, np.inf, -np.inf, 0.0, -0.0):
        values = np.where(rng.random(shape) < 0.02, special, values)
    return values.astype(NUMPY[dtype])


def expected_order(x, dim, descending=False):
    """Where the elements of a stable sort come from; NaN is the greatest."""
    if x.ndim == 0:
        return np.zeros((), np.int64)
    ranked = np.unique(
        x.astype(np.float64) if x.dtype.kind not in "iub" else x, return_inverse=True
    )[1]
    ranked = ranked.reshape(x.shape)
    return np.argsort(-ranked if descending else ranked, axis=dim, kind="stable")


def take(x, order, dim):
    return np.take_along_axis(x, order, dim) if x.ndim else x


def bits(x):
    return x.view(f"u{x.dtype.itemsize}")
