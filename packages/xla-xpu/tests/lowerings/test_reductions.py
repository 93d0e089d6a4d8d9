"""Reductions over any dimensions, with what is made of them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

X = np.random.default_rng(0).standard_normal((16, 12, 70)).astype(np.float32)
DIMS = [(2,), (1, 2), (0,), (1,), (0, 2), (0, 1, 2), ()]


@pytest.mark.parametrize("dims", DIMS)
@pytest.mark.parametrize("reduce", [jnp.sum, jnp.max, jnp.min, jnp.prod, jnp.any])
def test_dimensions(reduce, dims):
    compare_with_cpu(lambda x: reduce(x * 0.5 + 1, axis=dims), X)


@pytest.mark.parametrize("dtype", ["int32", "uint8", "bool", "float16", "bfloat16", "complex64"])
def test_dtypes(dtype):
    x = (X[:, :, :40] * 3).astype(jnp.dtype(dtype))
    compare_with_cpu(lambda x: (x.sum(2), x.sum(0)), x)
    if dtype != "complex64":
        compare_with_cpu(lambda x: (x.max(2), x.min((0, 2)), jnp.argmax(x, 2)), x)


@pytest.mark.parametrize("dim", [0, 1, 2])
def test_several_at_once(dim):
    """An index with its value: two accumulators."""
    x = np.round(X)  # ties
    x[3, 4, 5] = np.nan
    compare_with_cpu(lambda x: (jnp.argmax(x, dim), jnp.argmin(x, dim)), x)


def test_a_start_of_ones_own():
    compare_with_cpu(lambda x: lax.reduce(x, np.float32(3), lax.add, (2,)), X)
    compare_with_cpu(lambda x, y: lax.reduce(x, y, lax.max, (1, 2)), X, np.float32(2.5))


def test_a_reducer_of_ones_own_with_an_unknown_start():
    def both(a, b):
        return a[0] + b[0] + a[0] * b[0] * 0.1, jnp.maximum(a[1], b[1])

    compare_with_cpu(lambda x, y: lax.reduce((x, x), (y * 0, y), both, (0, 2)), X, np.float32(2.5))
    compare_with_cpu(lambda x, y: lax.reduce((x, x), (y, y), both, (1,)), X[:, :0], np.float32(2.5))


def standardized(x):
    centred = x - x.mean(-1, keepdims=True)
    return centred * lax.rsqrt((centred * centred).mean(-1, keepdims=True) + 1e-5)


ROWS = {
    "softmax": jax.nn.softmax,
    "log softmax": jax.nn.log_softmax,
    "of a transpose": lambda x: jax.nn.softmax(x.transpose(2, 1, 0)),
    "over two dimensions": lambda x: x - x.sum((1, 2), keepdims=True),
    "standardized": standardized,
    "its gradient": jax.grad(lambda x: (standardized(x) * jnp.sin(x)).sum()),
    "cross entropy": jax.value_and_grad(lambda x: -jax.nn.log_softmax(x)[:, 0, 3].mean()),
    "an expensive input": lambda x: (lambda g: (g, jax.nn.softmax(g)))(
        jax.nn.gelu(jnp.tanh(jnp.sin(x) * jnp.cos(x)) + jnp.exp(-x * x))
    ),
    "rows that meet": lambda x: jax.nn.softmax(x) + x.sum(-1)[::-1, :, None],
    "attention": lambda x: jax.nn.softmax(x @ x.transpose(0, 2, 1) / 9) @ x,
    "padded with the row's own": lambda x: jax.vmap(
        jax.vmap(lambda row: lax.pad(row - row.max(), row.max(), ((1, -1, 0),)) * row)
    )(x),
    "short sums in it": lambda x: (x - x.max(-1, keepdims=True)) + x[..., None, :3].sum(-1),
}


@pytest.mark.parametrize("function", ROWS)
def test_rows(function):
    compare_with_cpu(ROWS[function], X)


@pytest.mark.parametrize("dtype", ["float32", "bfloat16", "int8", "uint16", "bool"])
@pytest.mark.parametrize(
    ("shape", "dims"), [((5000, 3), 1), ((4, 4500), 0), ((70, 2, 80, 8), (1, 3))]
)
def test_short_ones_are_part_of_what_uses_them(dtype, shape, dims):
    x = (np.arange(np.prod(shape)) % 7 - 2).reshape(shape).astype(jnp.dtype(dtype))
    compare_with_cpu(lambda x: (x.max(dims), abs(x).sum(dims) * 2, jnp.all(x > 0, dims)), x)


def test_distances_of_points():
    points = np.random.default_rng(0).standard_normal((90, 3), np.float32)

    def distances(points):
        return jnp.sqrt(((points[:, None] - points[None]) ** 2).sum(-1) + 1)

    compare_with_cpu(distances, points)
    compare_with_cpu(jax.grad(lambda p: distances(p).sum()), points)


def test_one_element_is_no_reduction():
    x = np.arange(12, dtype=np.float32).reshape(3, 1, 4)
    compare_with_cpu(lambda x: (x.sum(1), x.max((1,)), x.min(1, keepdims=True)), x)


@pytest.mark.parametrize("axis", [None, 0, 1, 2])
def test_counts_along_what_is_reduced_take_no_memory(axis):
    x = np.random.default_rng(0).integers(0, 50, (37, 53, 11)).astype(np.uint8)
    compiled = jax.jit(lambda x: jnp.argmax(x, axis)).lower(x).compile()
    assert compiled.memory_analysis().temp_size_in_bytes < x.nbytes
    np.testing.assert_array_equal(compiled(x), np.argmax(x, axis))


def test_counts_along_one_of_the_reduced_dimensions():
    def largest(x):
        counts = jax.lax.broadcasted_iota(jnp.int32, x.shape, 1)

        def better(one, other):
            first = (one[0] > other[0]) | ((one[0] == other[0]) & (one[1] < other[1]))
            return tuple(jnp.where(first, a, b) for a, b in zip(one, other, strict=True))

        return jax.lax.reduce((x, counts), (jnp.float32(-jnp.inf), jnp.int32(0)), better, (0, 1))

    x = np.random.default_rng(0).standard_normal((37, 53, 11), dtype=np.float32)
    maximum, place = jax.jit(largest)(x)
    np.testing.assert_array_equal(maximum, x.max((0, 1)))
    np.testing.assert_array_equal(place, x.reshape(-1, 11).argmax(0) % 53)
