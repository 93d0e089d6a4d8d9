"""Arrays without elements, scalars, and index types of every width."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

EMPTY = {
    "elementwise": lambda x: jnp.sin(x) + 1,
    "sum": lambda x: (x.sum(), x.sum(0), x.sum(1)),
    "cumulative": lambda x: jnp.cumsum(x, 1),
    "product": lambda x: (x @ x.T, x.T @ x),
    "complex product": lambda x: (x + 1j) @ (x.T - 1j),
    "sort": lambda x: (jnp.sort(x, 1), jnp.argsort(x, 0)),
    "take": lambda x: x[:, jnp.array([0, 2])],
    "update": lambda x: x.at[:, 1].add(3.0),
    "concatenate": lambda x: jnp.concatenate([x, x, jnp.ones((2, 5), x.dtype)]),
    "pad": lambda x: jnp.pad(x, 2, constant_values=3),
    "reshape": lambda x: x.reshape(5, 0, 7),
    "top k": lambda x: lax.top_k(x, 3),
    "transform": lambda x: jnp.fft.fft(x, axis=1),
    "windows": lambda x: lax.reduce_window(x, 0.0, lax.add, (1, 2), (1, 1), "SAME"),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, y: y * 2, x),
    "slice": lambda x: lax.dynamic_slice(x, (0, jnp.int32(2)), (0, 2)),
}


@pytest.mark.parametrize("function", EMPTY)
def test_empty(function):
    compare_with_cpu(EMPTY[function], np.zeros((0, 5), np.float32))


INDICES = [np.int8, np.uint8, np.int16, np.uint16, np.int32, np.uint32]


@pytest.mark.parametrize("dtype", INDICES)
def test_index_types(dtype):
    _indexed(dtype)


@pytest.mark.parametrize("dtype", [np.int64, np.uint64])
def test_wide_index_types(dtype):
    with jax.enable_x64(True):
        _indexed(dtype)


def _indexed(dtype):
    def all_ways(x, i):
        return (
            lax.dynamic_slice(x, (i[0], i[1]), (3, 2)),
            lax.dynamic_update_slice(x, x[:2, :2] * 2, (i[1], i[0])),
            x[i],
            x.at[i].add(1.0),
            x.at[i, i].set(7.0),
            jnp.take(x, i, axis=1, mode="clip"),
            jnp.take(x, i, axis=0, mode="fill", fill_value=5.0),
        )

    x = np.arange(100, dtype=np.float32).reshape(10, 10)
    compare_with_cpu(all_ways, x, np.array([3, 7, 1, 120], dtype))
    if np.issubdtype(dtype, np.signedinteger):
        compare_with_cpu(all_ways, x, np.array([-3, -7, -100, 2], dtype))


LIMITS = {"uint4": (0, 15), "int2": (-2, 1), "uint2": (0, 3)}
SMALL = [jnp.int4, jnp.uint4, jnp.int2, jnp.uint2, jnp.float8_e4m3fn, jnp.float8_e5m2]


@pytest.mark.parametrize("dtype", SMALL, ids=lambda d: np.dtype(d).name)
def test_small_types(dtype):
    # Out of range every platform has its own answer.
    low, high = LIMITS.get(np.dtype(dtype).name, (-8, 7))
    x = np.random.default_rng(0).integers(low, high + 1, (4, 6)).astype(np.float32)
    compare_with_cpu(lambda x: x.astype(dtype), x)
    compare_with_cpu(
        lambda x: (x.astype(dtype).astype(np.float32), x.astype(dtype)[1:, ::2] * 1), x
    )
    compare_with_cpu(lambda x: jnp.where(x > 0, x.astype(dtype), jnp.zeros((), dtype)), x)


@pytest.mark.parametrize("dtype", [np.float32, np.int32, np.bool_, np.complex64])
def test_scalars_choose(dtype):
    x = np.array([[0, 1, 2], [3, 0, -5]]).astype(dtype)
    compare_with_cpu(lambda p, x: lax.select(p, x, x + x), np.True_, x)
    compare_with_cpu(lambda p, x: jnp.where(p[0, 1], x[0], x[1]), np.array([[True, False]]), x)
    if dtype != np.complex64 and dtype != np.bool_:
        compare_with_cpu(lambda lo, x, hi: lax.clamp(lo, x, hi), x[0, 0], x, x[0, 2])


# Of a vector of 1,000 int64. Arrays far larger than memory are never in memory as a whole.
FAR = {
    "a multiple of positions": lambda x: jnp.arange(x.size) * 3_000_000_000 + x,
    "a square of positions": lambda x: (jnp.arange(x.size) * 40503) ** 2 // -3 + x,
    "a float of a square": lambda x: ((jnp.arange(x.size) * 40503) ** 2).astype(np.float32),
    "a part of a range": lambda x: _range(2**39, 2**39 + 1000, 1) + x,
    "a part of a range with steps": lambda x: _range(5, 5 + 2**22 * 999 + 1, 2**22) + x,
    "a reversed range": lambda x: lax.rev(_range(5, 5 + 2**30 * 999 + 1, 2**30), (0,)) * 3 + x,
    "a padded range": lambda x: (
        lax.pad(lax.iota(np.int64, 2**40), np.int64(0), ((-(2**39), 1010 - 2**39, 0),))[10:] + x
    ),
    "a moving part of a range": lambda x: (
        lax.dynamic_slice(lax.iota(np.int64, 2**40), (x[3] * 2**36,), (1000,)) * 3
    ),
    "a part of a broadcast": lambda x: (
        lax.slice(lax.broadcast(x * 2, (2**33,)), (2**32, 0), (2**32 + 7, 1000)) + 1
    ),
    "indices": lambda x: x[(jnp.arange(x.size) * 4_050_300) % 30],
}


def _range(begin, end, step):
    return lax.slice(lax.iota(np.int64, 2**40), (begin,), (end,), (step,))


@pytest.mark.values
@pytest.mark.parametrize("function", FAR)
def test_integers_beyond_32_bits(function):
    with jax.enable_x64(True):
        compare_with_cpu(FAR[function], np.arange(1000))
