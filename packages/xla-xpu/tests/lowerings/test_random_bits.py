"""Random bits are those of JAX's other platforms."""

import jax
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

ALGORITHMS = [getattr(lax.RandomAlgorithm, f"RNG_{n}") for n in ("THREE_FRY", "PHILOX", "DEFAULT")]


@pytest.mark.parametrize("dtype", [np.uint32, np.uint8, np.uint16])
@pytest.mark.parametrize("shape", [(), (8,), (7,), (3, 5, 7), (4, 6), (0, 4)])
@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_bits(algorithm, shape, dtype):
    key = np.array([1, 2**32 - 2, 2**32 - 1, 2**32 - 1], np.uint32)
    compare_with_cpu(lambda k: lax.rng_bit_generator(k, shape, dtype, algorithm=algorithm), key)


@pytest.mark.parametrize("algorithm", ALGORITHMS, ids=str)
def test_wide_bits(algorithm):
    with jax.enable_x64(True):
        key = np.array([5, 2**64 - 2], np.uint64)
        for shape in ((6,), (5, 3)):
            compare_with_cpu(
                lambda k, shape=shape: lax.rng_bit_generator(
                    k, shape, np.uint64, algorithm=algorithm
                ),
                key,
            )


@pytest.mark.parametrize("kind", ["threefry2x32", "rbg", "unsafe_rbg"])
def test_distributions(kind):
    def draw(seed):
        key = jax.random.key(seed, impl=kind)
        one, two, three = jax.random.split(key, 3)
        return (
            jax.random.bits(one, (3, 5)),
            jax.random.uniform(two, (2, 9)),
            jax.random.normal(three, (7,)),
            jax.random.permutation(one, 10),
        )

    compare_with_cpu(draw, np.int32(3))
