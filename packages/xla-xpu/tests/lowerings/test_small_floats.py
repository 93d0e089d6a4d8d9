"""The floats of a byte and less that the runtime has no type of, beside JAX's CPU backend."""

from functools import partial

import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu, run_on
from jax import lax

NAMES = [
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fnuz", "float8_e5m2fnuz"),
    *("float4_e2m1fn", "float8_e8m0fnu"),
]
each = pytest.mark.parametrize("name", NAMES)
each_signed = pytest.mark.parametrize("name", NAMES[:-1])


def numbers(name, *shape, seed=0):
    x = np.random.default_rng(seed).normal(size=shape).astype(np.float32)
    return x.astype(name)


def bits(array):
    return np.asarray(array).view(np.uint8)


@pytest.mark.values
@each
def test_every_value(name):
    every = np.arange(16 if name == "float4_e2m1fn" else 256, dtype=np.uint8).view(name)
    with np.errstate(invalid="ignore"):
        expected = every.astype(np.float32)
    wide = np.asarray(run_on("xpu", lambda x: x.astype(np.float32), (every,)))
    np.testing.assert_array_equal(wide, expected)
    again = run_on("xpu", lambda x: x.astype(name), (wide,))
    numbers = ~np.isnan(wide)
    np.testing.assert_array_equal(bits(again)[numbers], bits(every)[numbers])


@pytest.mark.values
@each
def test_rounding(name):
    # The upper half of a float takes all values; the lower half is below, on and above the ties.
    upper = np.arange(1 << 16, dtype=np.uint32) << 16
    x = np.concatenate([upper | low for low in (0, 1, 0x7FFF, 0x8000, 0x8001)]).view(np.float32)
    if name == "float4_e2m1fn":  # there is no NaN in it
        x = x[~np.isnan(x)]
    with np.errstate(invalid="ignore"):
        expected = x.astype(name)
    got = run_on("xpu", lambda x: x.astype(name), (x,))
    np.testing.assert_array_equal(bits(got), bits(expected))


@each_signed
def test_arithmetic(name):
    x, y = numbers(name, 33), numbers(name, 33, seed=1)
    compare_with_cpu(lambda x, y: (x + y, x * y, -x, abs(y), jnp.maximum(x, y), jnp.exp(x)), x, y)
    compare_with_cpu(lambda x, y: (x < y, jnp.where(x > y, x, y), jnp.clip(x, -1, 1)), x, y)


@each_signed
def test_moves(name):
    x = numbers(name, 6, 8)
    compare_with_cpu(
        lambda x: (x.T[1:, ::2], jnp.flip(x, 0), jnp.pad(x, 1), jnp.concatenate([x, x], 1)), x
    )
    compare_with_cpu(
        lambda x, i: (x[i], x.at[i].set(x[0]), lax.dynamic_slice(x, i, (2, 2))), x, np.array([1, 4])
    )
    compare_with_cpu(
        lambda x: (jnp.tile(x, (2, 3)), jnp.zeros((4, 4), x.dtype), jnp.full(9, x[0, 0])), x
    )
    compare_with_cpu(
        lambda x: lax.bitcast_convert_type(x, np.int8 if x.dtype.itemsize == 8 else x.dtype), x
    )


@each_signed
def test_reductions(name):
    x = numbers(name, 40, 64)
    compare_with_cpu(lambda x: (x.max(), x.min(1), x.max(0), jnp.argmax(x, 1)), x, exact=True)
    compare_with_cpu(lambda x: x.astype(np.float32).sum(1), x)
    compare_with_cpu(lambda x: lax.cummax(x, 1), x, exact=True)
    compare_with_cpu(lambda x: x.sum(1, dtype=np.float32), x)


@pytest.mark.values
@each_signed
def test_order(name):
    x = numbers(name, 4, 33)
    compare_with_cpu(lambda x: jnp.sort(x, 1).astype(np.float32), x, exact=True)
    compare_with_cpu(lambda x: lax.top_k(x.astype(np.float32), 3)[0], x, exact=True)


@each_signed
def test_scatter_adds(name):
    x, i = numbers(name, 16), np.arange(4) * 3
    compare_with_cpu(lambda x, i: x.at[i].add(x[i]), x, i)


@each_signed
def test_products(name):
    x, w = numbers(name, 32, 64), numbers(name, 64, 16, seed=1)
    exact = x.astype(np.float32) @ w.astype(np.float32)
    for dtype, within in (("float32", 1e-5), ("bfloat16", 1e-2)):
        got = run_on("xpu", partial(jnp.matmul, preferred_element_type=dtype), (x, w))
        assert got.dtype == dtype
        np.testing.assert_allclose(np.asarray(got, np.float32), exact, rtol=within, atol=within)


@each_signed
def test_products_of_scaled_blocks(name):
    x, w = numbers(name, 32, 64), numbers(name, 64, 16, seed=1)
    powers = np.exp2(np.random.default_rng(0).integers(-3, 3, (32, 2)))

    def scaled(x, powers, w):
        blocks = x.reshape(32, 2, 32).astype(np.float32) * powers[..., None].astype(np.float32)
        return blocks.reshape(32, 64) @ w.astype(np.float32)

    compare_with_cpu(scaled, x, powers.astype(jnp.float8_e8m0fnu), w)


@each_signed
def test_loops(name):
    x = numbers(name, 8)
    compare_with_cpu(lambda x: lax.fori_loop(0, 3, lambda i, x: (x / 2).astype(x.dtype), x), x)
    compare_with_cpu(lambda x: lax.scan(lambda c, y: (c + y.astype(np.float32), c), 0.0, x), x)
    compare_with_cpu(lambda p, x: lax.cond(p, lambda x: -x, lambda x: x, x), np.True_, x)


def _rounded_maximum(a, b):
    return jnp.maximum(*(x.astype("float8_e4m3").astype(x.dtype) for x in (a, b)))


REGIONS = {
    "columns": lambda x, f: lax.reduce(x, np.float32(-9), f, (0,)),
    "rows": lambda x, f: lax.reduce(x, np.float32(-9), f, (1,)),
    "windows": lambda x, f: lax.reduce_window(x, np.float32(-9), f, (3, 3), (1, 1), "VALID"),
    "cumulative": lambda x, f: lax.reduce_window(
        x, np.float32(-np.inf), f, (1, 64), (1, 1), ((0, 0), (63, 0))
    ),
    "scatter": lambda x, f: lax.scatter_apply(
        x,
        np.array([[1], [3]]),
        lambda value: f(value, np.float32(0)),
        lax.ScatterDimensionNumbers((0,), (0,), (0,)),
        update_shape=(64, 2),
    ),
}


@pytest.mark.parametrize("region", REGIONS)
def test_regions_that_round_to_a_minifloat(region):
    """The operands are f32: only the region's statements have the type."""
    x = numbers("float8_e4m3", 40, 64).astype(np.float32)
    compare_with_cpu(lambda x: REGIONS[region](x, _rounded_maximum), x, exact=True)
