"""Dtypes, random data and index helpers for the tests of gathers and scatters."""

import numpy as np
from layouts import FLOATS, INTEGERS, NUMPY

ALL = ("bool", *INTEGERS, *FLOATS, "c64", "c128", "f8e4m3", "f8e5m2")
COMBINE = {
    "add": np.add,
    "multiply": np.multiply,
    "minimum": np.minimum,
    "maximum": np.maximum,
}


def some(rng, shape, dtype):
    """Random small whole numbers (or bools): every dtype holds them, and small sums are exact."""
    if dtype == "bool":
        return rng.random(shape) < 0.3
    if dtype in ("c64", "c128"):
        return rng.integers(-3, 4, shape) + 1j * rng.integers(-3, 4, shape)
    return rng.integers(0 if dtype.startswith("u") else -3, 4, shape).astype(NUMPY[dtype])


def along(index, dim):
    """Return numpy's index for the elements that ``index`` chooses along ``dim``, as in gather.

    Element ``[i, j, k]`` for ``dim=1`` is ``x[i, index[i, j, k], k]``.
    """
    grid = list(np.indices(index.shape, sparse=True))
    grid[dim] = index
    return tuple(grid)
