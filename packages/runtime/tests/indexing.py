"""What the tests of gathers and scatters share."""

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
    """Small whole numbers, which every dtype holds, and of which sums are exact."""
    if dtype == "bool":
        return rng.random(shape) < 0.3
    if dtype in ("c64", "c128"):
        return rng.integers(-3, 4, shape) + 1j * rng.integers(-3, 4, shape)
    return rng.integers(0 if dtype.startswith("u") else -3, 4, shape).astype(NUMPY[dtype])


def along(index, dim, shape):
    """Return numpy's index for ``x[.., index, ..]`` along a dimension."""
    grid = list(np.indices(index.shape, sparse=True))
    grid[dim] = index
    return tuple(grid)
