"""top_k and sorts: dtypes, several keys, NaN and signed zeros, gradients."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax


def random_array(shape, dtype=np.float32):
    return (np.random.default_rng(0).standard_normal(shape) * 20).astype(dtype)


@pytest.mark.parametrize("dtype", [np.float32, jnp.bfloat16, np.int8, np.uint32])
def test_top_k(dtype):
    compare_with_cpu(lambda x: lax.top_k(x, 5), random_array((4, 60), dtype))


@pytest.mark.parametrize("function", [lax.approx_max_k, lax.approx_min_k])
def test_approximate_top_k(function):
    compare_with_cpu(lambda x: function(x, 4), random_array((3, 40)))
    compare_with_cpu(lambda x: function(x, 4, reduction_dimension=0), random_array((40, 3)))


def test_several_keys():
    # From {0, 1, 2}, so that many first keys are equal and the next key decides.
    keys = [np.random.default_rng(k).integers(0, 3, (5, 40)).astype(np.int32) for k in range(3)]
    compare_with_cpu(lambda *keys: lax.sort(keys, dimension=1, num_keys=2), *keys)
    compare_with_cpu(lambda *keys: lax.sort(keys, dimension=0, num_keys=3), *keys)


def test_nan_and_signed_zeros():
    x = np.array([1, np.nan, -0.0, 0.0, -np.inf, np.inf, -np.nan, 2], np.float32)
    compare_with_cpu(jnp.sort, x)
    compare_with_cpu(jnp.argsort, x)


@pytest.mark.parametrize("dtype", [np.complex64, np.float32, np.int16, np.bool_, jnp.bfloat16])
def test_sorts(dtype):
    x = random_array((5, 40)).astype(dtype)
    if dtype == np.complex64:
        # Whole real parts: many are equal, so that the imaginary parts decide.
        x = x.round() + np.complex64(1j) * random_array((5, 40))[::-1]
    compare_with_cpu(lambda x: (jnp.sort(x, 1), jnp.argsort(x, 0), lax.sort((x, x), num_keys=1)), x)


def test_gradient():
    compare_with_cpu(jax.grad(lambda x: (lax.top_k(x, 5)[0] ** 2).sum()), random_array((4, 60)))
