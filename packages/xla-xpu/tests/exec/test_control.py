"""Loops and branches, their gradients, and what they carry."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

X = np.linspace(0, 1, 50, dtype=np.float32)


def lorenz(y):
    def slope(y):
        return jnp.stack(
            [10 * (y[1] - y[0]), y[0] * (28 - y[2]) - y[1], y[0] * y[1] - 8 / 3 * y[2]]
        )

    return lax.scan(lambda y, _: (y + 0.01 * slope(y), y[0]), y, None, length=40)


LOOPS = {
    "counted": lambda x: lax.fori_loop(0, 10, lambda i, a: a * 1.1 + i, x),
    "counted by threes": lambda x: lax.while_loop(
        lambda s: s[0] < 20, lambda s: (s[0] + 3, s[1] + s[0]), (2, x)
    ),
    "scan": lambda x: lax.scan(lambda c, t: (c * 0.9 + t, c + 1), x, jnp.arange(7.0)),
    "scan backwards": lambda x: lax.scan(
        lambda c, t: (c * 0.9 + t.sum(), c), x[0], x.reshape(5, 10), reverse=True
    ),
    "equations": lambda x: lorenz(jnp.stack([x, x + 1, x + 2])),
    "its gradient": jax.grad(lambda x: lorenz(jnp.stack([x, x + 1, x + 2]))[1].sum()),
    "swapped": lambda x: lax.fori_loop(0, 5, lambda i, s: (s[1], s[0] + i), (x, 2 * x)),
    "data decides": lambda x: lax.while_loop(
        lambda s: s[1].sum() < 100, lambda s: (s[0] + 1, s[1] * 1.5), (0, x + 0.1)
    ),
    "each decides": lambda x: jax.vmap(
        lambda y: lax.while_loop(lambda c: c < 3, lambda c: c * 1.7 + 0.1, y)
    )(x + 0.1),
    "a series decides": lambda x: lax.igamma(x + 1, x * 3),
    "neighbours": lambda x: lax.fori_loop(0, 6, lambda i, a: jnp.roll(a, 1) * 0.5 + i, x),
    "a short dimension": lambda x: lax.fori_loop(
        0, 6, lambda i, a: jnp.roll(a, 1, 0) * a[0] * 0.1 + i, x.reshape(5, 10)
    ),
    "written in place": lambda x: lax.fori_loop(0, 6, lambda i, a: a.at[i].set(i * 2.0), x),
    "a number among arrays": lambda x: lax.fori_loop(
        0, 6, lambda i, s: (s[0] + 1, s[1] * s[0]), (jnp.float32(1), x)
    ),
    "products": lambda x: lax.fori_loop(
        0, 4, lambda i, a: a @ a * 0.1 + jnp.eye(7), x[:49].reshape(7, 7)
    ),
    "a loop in a loop": lambda x: lax.fori_loop(
        0, 3, lambda i, a: lax.fori_loop(0, i + 1, lambda j, b: jnp.flip(b) * 0.5 + j, a), x
    ),
    "no rounds": lambda x: lax.fori_loop(0, 0, lambda i, a: a * 2, x),
    "nothing changes": lambda x: lax.fori_loop(0, 3, lambda i, s: (s[0] + s[1], s[1]), (x, x * 2)),
}


# Where nothing is computed, a loop that the data ends may have no end.
@pytest.mark.parametrize(
    "loop",
    [
        pytest.param(name, marks=[pytest.mark.values] * ("decides" in name or "in a loop" in name))
        for name in LOOPS
    ],
)
def test_loops(loop):
    compare_with_cpu(LOOPS[loop], X)


BRANCHES = {
    "either": lambda x, k: lax.cond(k > 1, lambda x: x * 2, lambda x: jnp.sin(x), x),
    "one of several": lambda x, k: lax.switch(
        k, [lambda x: (x, 1), lambda x: (x @ x * x, 2), lambda x: (jnp.sort(-x), 3)], x
    ),
    "in a loop": lambda x, k: lax.fori_loop(
        0, 4, lambda i, a: lax.cond(i > k, lambda a: a + 1, lambda a: jnp.flip(a), a), x
    ),
    "its gradient": jax.grad(lambda x, k: lax.cond(k > 1, jnp.sin, lambda x: x**3, x).sum()),
}


@pytest.mark.parametrize("branch", BRANCHES)
@pytest.mark.parametrize("k", [-1, 0, 2, 5])
def test_branches(branch, k):
    compare_with_cpu(BRANCHES[branch], X, np.int32(k))


@pytest.mark.parametrize("reverse", [False, True])
def test_what_a_scan_stacks_up(reverse):
    """Every row is written, so what was there before need not be cleared; where not, it stays."""
    x = np.arange(60, dtype=np.float32).reshape(12, 5)
    compare_with_cpu(
        lambda x: jax.lax.scan(lambda c, r: (c @ M + r, c * 2), x[0], x, reverse=reverse), x
    )

    def some(x):
        def body(i, carry):
            state, rows = carry
            return state @ M + 1, rows.at[2 * i].set(state)

        return jax.lax.fori_loop(0, 6, body, (x[0], x))

    compare_with_cpu(some, x)


M = np.eye(5, dtype=np.float32) * 0.5 + 0.01


def test_what_a_scan_stacks_up_outlives_what_each_round_needs():
    """Memory for one round is not that of what earlier rounds left."""

    def function(x):
        def body(carry, row):
            sorted_ = jnp.sort(carry @ M @ M)
            sums = jnp.cumsum(sorted_) @ M
            return jnp.tanh(sums + row), sums

        _, every = jax.lax.scan(body, x[0], x)
        return jnp.cos(every).sum() + jnp.sort(every, 0)[0].sum()

    x = np.arange(60, dtype=np.float32).reshape(12, 5) / 30
    compare_with_cpu(function, x)
    compare_with_cpu(jax.grad(function), x)


def test_pallas_in_interpret_mode():
    from jax.experimental import pallas

    def kernel(x, out):
        out[...] = x[...] * 2 + 1

    block = pallas.BlockSpec((4, 8), lambda i: (i, 0))
    call = pallas.pallas_call(
        kernel,
        out_shape=jax.ShapeDtypeStruct((8, 8), np.float32),
        grid=(2,),
        in_specs=[block],
        out_specs=block,
        interpret=True,
    )
    compare_with_cpu(call, np.arange(64, dtype=np.float32).reshape(8, 8), exact=True)
