"""Products of integers, which wrap as numpy's do, whatever their widths."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

BYTES = ("int8", "uint8")
NARROW = ("int4", "uint4", *BYTES, "int16", "uint16")


def numbers(dtype, *shape):
    """All that the dtype has."""
    info = jnp.iinfo(dtype)
    drawn = np.random.default_rng(0).integers(int(info.min), int(info.max) + 1, shape)
    return drawn.astype(jnp.dtype(dtype))


@pytest.mark.parametrize("dtype", NARROW)
def test_products_of_one_type(dtype):
    x, y = numbers(dtype, 3, 5, 70), numbers(dtype, 3, 70, 9)
    compare_with_cpu(lambda x, y: (x @ y, x[0] @ y[0, :, 0], jnp.vdot(x, x)), x, y)


@pytest.mark.parametrize("dtype", [*BYTES, "int16", "uint16"])
def test_convolutions_of_one_type(dtype):
    x, w = numbers(dtype, 2, 7, 30), numbers(dtype, 4, 7, 3)
    compare_with_cpu(lambda x, w: lax.conv_general_dilated(x, w, (1,), "SAME"), x, w)


@pytest.mark.parametrize("result", [*BYTES, "int16", "int32"])
@pytest.mark.parametrize("left", ["bool", "int4", "uint8"])
@pytest.mark.parametrize("right", ["uint4", "int8"])
def test_products_of_two_types(left, right, result):
    x = numbers("int8", 5, 70) > 0 if left == "bool" else numbers(left, 5, 70)
    contracted = (((1,), (0,)), ((), ()))
    compare_with_cpu(
        lambda x, y: lax.dot_general(x, y, contracted, preferred_element_type=result),
        x,
        numbers(right, 70, 9),
    )


def test_what_fits_is_kept():
    x, y = np.full((3, 40), -128, np.int8), np.full((40, 3), 127, np.int8)
    compare_with_cpu(lambda x, y: lax.dot(x, y, preferred_element_type=jnp.int32), x, y)


@pytest.mark.parametrize("dtype", ["int2", "uint2", "int4", "uint4"])
def test_parts_of_bytes_come_from_other_backends(dtype, cpu, xpu):
    """JAX's CPU gives them without what is above their sign."""
    x = numbers(dtype, 5, 7)
    there = jax.device_put(jax.device_put(x, cpu) + 0, xpu)
    bytes = jax.jit(lambda x: (x.astype(jnp.int32), jnp.max(x), jnp.sort(x, 1)))(there)
    for got, expected in zip(bytes, (x.astype(np.int32), x.max(), np.sort(x, 1)), strict=True):
        np.testing.assert_array_equal(got, expected)
