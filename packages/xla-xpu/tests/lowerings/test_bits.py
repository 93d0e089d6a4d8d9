"""Arrays as the bits of others."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

PAIRS = [
    (np.float32, np.uint8),
    (np.float32, jnp.bfloat16),
    (np.uint32, np.float32),
    (np.int16, np.float16),
    (np.int8, jnp.int4),
    (jnp.uint4, jnp.int4),
    (jnp.uint4, np.int8),
    (np.uint8, np.float32),
    (jnp.bfloat16, np.int32),
    (jnp.float8_e5m2, np.uint16),
]


@pytest.mark.parametrize(("source", "target"), PAIRS, ids=lambda d: np.dtype(d).name)
def test_bitcast(source, target):
    wide, narrow = (jax.dtypes.itemsize_bits(d) for d in (target, source))
    x = np.random.default_rng(0).integers(-7, 8, (3, 4, max(1, wide // narrow))).astype(source)
    compare_with_cpu(
        lambda x: (
            lax.bitcast_convert_type(x.reshape(x.shape if wide > narrow else (3, -1)), target) * 1
        ),
        x,
    )


@pytest.mark.fp64
def test_bitcast_to_the_same_type():
    with jax.enable_x64(True):
        x = np.arange(6).astype(np.complex128) * (1 - 2j)
        compare_with_cpu(lambda x: lax.bitcast_convert_type(x, np.complex128) * 1, x)
