"""Arrays of more dimensions than the runtime's kernels take, whatever lies in between them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

MANY = 15
X = np.random.default_rng(0).standard_normal([2] * MANY).astype(np.float32)
ORDER = [int(dim) for dim in np.random.default_rng(1).permutation(MANY)]

PROGRAMS = {
    "sum": lambda x: (x.sum(), x.sum((1, 3, 5, 7)), x.sum(tuple(range(0, MANY, 2)))),
    "largest": lambda x: (x * 2 + 1).max(tuple(range(1, MANY, 3))),
    "a reducer of ones own": lambda x: lax.reduce(
        x, np.float32(0), lambda a, b: a + b + a * b * 0, (1, 3)
    ),
    "permuted": lambda x: (jnp.transpose(x, ORDER), jnp.transpose(x, ORDER) + 1, x.T),
    "reversed": lambda x: (jnp.flip(x), jnp.flip(x, (0, 4, 7))),
    "places": lambda x: jnp.argmax(x, 5),
    "cumulative": lambda x: jnp.cumsum(x, 5),
    "sorted": lambda x: (jnp.sort(x, 5), jnp.argsort(x, 0), jnp.sort(x.T, 3)),
    "top k": lambda x: lax.top_k(x, 1),
    "transform": lambda x: jnp.fft.fft(x, axis=MANY - 1).real,
    "parts": lambda x: (x[1, :, 0], lax.dynamic_slice(x, [jnp.int32(1)] * MANY, [1] * MANY)),
    "taken": lambda x: jnp.take(x, jnp.array([0, 1, 1]), axis=4),
    "updated": lambda x: (
        x.at[:, 1].set(3.0),
        x.at[:, jnp.array([0, 0])].add(3.0),
        lax.dynamic_update_slice(x, x[:1] * 2, [jnp.int32(1)] * MANY),
    ),
    "joined": lambda x: (jnp.concatenate([x, x], 3), jnp.pad(x, [(0, 1)] * 2 + [(0, 0)] * 13)),
    "product": lambda x: (jnp.matmul(x, x), jnp.tensordot(x, x / 2**13, axes=MANY - 2)),
    "softmax": jax.nn.softmax,
    "broadcast": lambda x: jnp.broadcast_to(x, (3, *x.shape)),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, y: jnp.transpose(y, ORDER), x),
    "callback": lambda x: jax.pure_callback(np.negative, x, x),
    "a constant": lambda x: jnp.ones(x.shape).T.sum(2) + x.sum(3),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_many_dimensions(name):
    compare_with_cpu(PROGRAMS[name], X)


def test_dimensions_of_one_element():
    def all_ways(x):
        everything = tuple(range(x.ndim))
        return (
            *(x.sum(), x.sum(everything), x.max(0), jnp.flip(x), x.T, x + 1, jnp.squeeze(x)),
            *(jnp.sort(x), jnp.cumsum(x, -1), jnp.take(x, jnp.array([0, 0]), 2)),
        )

    compare_with_cpu(all_ways, X.reshape(-1)[:3].reshape([1] * 20 + [3]))


def test_reversed_order_of_a_million():
    compare_with_cpu(
        lambda x: jnp.transpose(x), np.arange(2**20, dtype=np.float32).reshape([2] * 20)
    )


# Ten dimensions, and an array of indices for each; some count from the end, some are beyond it.
TEN = X.reshape([2] * 5 + [4] * 5)
PLACES = [
    np.random.default_rng(dim).integers(-size - 1, size + 1, (3, 5)).astype(np.int32)
    for dim, size in enumerate(TEN.shape)
]
VALUES = np.arange(15, dtype=np.float32).reshape(3, 5)
WINDOWS = lax.ScatterDimensionNumbers(
    update_window_dims=(1, 2),
    inserted_window_dims=tuple(range(2, 10)),
    scatter_dims_to_operand_dims=tuple(reversed(range(10))),
)

INDEXED = {
    "all": lambda x: (x[*PLACES], x.at[*PLACES].get(mode="clip")),
    "filled": lambda x: x.at[*PLACES].get(mode="fill", fill_value=7),
    "most": lambda x: (x[*PLACES[:9]], x[*PLACES[:4], :, *PLACES[5:]]),
    "set": lambda x: x.at[*PLACES].set(3.0),
    "add": lambda x: x.at[*PLACES].add(VALUES),
    "largest": lambda x: x.at[*PLACES[:9]].max(VALUES[..., None]),
    "multiply": lambda x: x.at[*PLACES[:4], :, *PLACES[5:]].multiply(VALUES[..., None]),
    "gradient": jax.grad(lambda x: (x[*PLACES] * VALUES).sum()),
    "of another type": lambda x: x.at[*(place.astype(np.uint8) for place in PLACES)].add(VALUES),
    "windows": lambda x: lax.scatter_add(
        x,
        jnp.stack([jnp.array([1, 0, 3, 0])] * 9 + [jnp.array([0, 1, 0, 0])], 1),
        jnp.ones((4, 1, 2)),
        WINDOWS,
    ),
    "one of many each": jax.vmap(lambda x: x[*PLACES[1:]]),
    "one of many each, added": jax.vmap(lambda x: x.at[*PLACES[1:]].add(VALUES)),
    "by an index of many dimensions": lambda x: (
        x.reshape(-1)[PLACES[0].reshape([3, 5] + [1] * 12)],
        x.reshape(-1).at[PLACES[0].reshape([3, 5] + [1] * 12)].add(2.0),
    ),
}


@pytest.mark.parametrize("name", INDEXED)
def test_indices_of_many_components(name):
    compare_with_cpu(INDEXED[name], TEN)


def test_windows_without_an_index(xpu):
    """Of as many dimensions as the runtime takes. JAX's CPU adds one window of the three."""
    none, dims = np.zeros((3, 0), np.int32), tuple(range(1, 13))
    taken = lax.GatherDimensionNumbers(dims, (), ())
    added = lax.ScatterDimensionNumbers(dims, (), ())

    def both(x):
        windows = lax.gather(x, none, taken, (1,) * 12)
        return windows, lax.scatter_add(x, none, windows, added)

    x = X.reshape([2] * 9 + [4] * 3)
    expected = x.copy()
    expected[(0,) * 12] *= 4
    windows, total = jax.jit(both)(jax.device_put(x, xpu))
    np.testing.assert_array_equal(windows.reshape(-1), [x[(0,) * 12]] * 3)
    np.testing.assert_allclose(total, expected, rtol=1e-6)


def test_an_unsigned_index_beyond_all_signed_ones(child):
    child(
        """
        import jax, numpy as np
        from jax import lax
        x, far = np.arange(4.0), np.array([2**63 + 1, 1], np.uint64)
        taken = lax.GatherDimensionNumbers((), (0,), (0,))
        def last(x, far):
            return lax.gather(x, far[:, None], taken, (1,), mode="clip")
        got = jax.jit(last)(*jax.device_put((x, far)))
        np.testing.assert_array_equal(got, [3, 1])
        """,
        env={"JAX_ENABLE_X64": "1"},
    ).check()
