"""Sums and means of many numbers: a reduction adds blocks of them, so few roundings add up."""

import numpy as np
import pytest
from layouts import Placed

pytestmark = pytest.mark.usefixtures("device")

MANY = {
    "tenths": lambda rng, shape: np.full(shape, 0.1),
    "ramp": lambda rng, shape: np.arange(np.prod(shape)).reshape(shape) / np.prod(shape),
    "lognormal": lambda rng, shape: rng.lognormal(0, 3, shape),
    "one large": lambda rng, shape: np.where(np.arange(shape[-1]) == 0, 1e6, rng.random(shape)),
}


@pytest.mark.values
@pytest.mark.parametrize("name", ["sum", "mean"])
@pytest.mark.parametrize("kind", MANY)
@pytest.mark.parametrize(
    ("shape", "axis"), [((1 << 20,), 0), ((4, 1 << 17), 1), ((1 << 16, 20), 0), ((3, 9000, 40), 1)]
)
def test_many_numbers_add_up_with_few_roundings(xr, rng, name, kind, shape, axis):
    """One accumulator for all of them would be off by a hundred steps."""
    values = MANY[kind](rng, shape).astype(np.float32)
    x, out = (
        Placed(shape, "f32", values=values),
        Placed(tuple(s for d, s in enumerate(shape) if d != axis), "f32"),
    )
    xr.kernels.reduce(name, out.array, x.array, axis)
    wide = values.astype(np.float64)
    expected, size = getattr(wide, name)(axis), getattr(np.abs(wide), name)(axis)
    assert (np.abs(out.result() - expected) <= 12 * 2.0**-24 * size).all()
