"""Arrays of more dimensions than the runtime's kernels take, whatever lies in between them."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from beside import beside_cpu
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
    "product": lambda x: (jnp.matmul(x, x), jnp.tensordot(x, x, axes=MANY - 2)),
    "softmax": jax.nn.softmax,
    "broadcast": lambda x: jnp.broadcast_to(x, (3, *x.shape)),
    "loop": lambda x: lax.fori_loop(0, 3, lambda i, y: jnp.transpose(y, ORDER), x),
    "callback": lambda x: jax.pure_callback(np.negative, x, x),
    "a constant": lambda x: jnp.ones(x.shape).T.sum(2) + x.sum(3),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_many_dimensions(name):
    beside_cpu(PROGRAMS[name], X)


def test_dimensions_of_one_element():
    def all_ways(x):
        everything = tuple(range(x.ndim))
        return (
            *(x.sum(), x.sum(everything), x.max(0), jnp.flip(x), x.T, x + 1, jnp.squeeze(x)),
            *(jnp.sort(x), jnp.cumsum(x, -1), jnp.take(x, jnp.array([0, 0]), 2)),
        )

    beside_cpu(all_ways, X.reshape(-1)[:3].reshape([1] * 20 + [3]))


def test_reversed_order_of_a_million():
    beside_cpu(lambda x: jnp.transpose(x), np.arange(2**20, dtype=np.float32).reshape([2] * 20))
