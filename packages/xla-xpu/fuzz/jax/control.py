"""Loops, branches and transformations around smaller programs."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from elementwise import SMOOTH
from jax import lax
from operations import Pick, operation
from values import Value, bounded, real_float


def _step(rng: np.random.Generator) -> object:
    """A function of floats that keeps shape and dtype, and does not grow."""
    names = [str(name) for name in rng.choice(list(SMOOTH), int(rng.integers(1, 4)))]
    turns = bool(rng.random() < 0.3)

    def step(x):
        dtype = x.dtype
        for name in names:
            x = bounded(SMOOTH[name](x)).astype(dtype)
        return x[::-1] if turns and x.ndim else x

    return step


@operation(1)
def loop(rng: np.random.Generator, pick: Pick) -> Value | None:
    value, step = real_float(pick()), _step(rng)
    trips = int(rng.integers(0, 5))
    if rng.random() < 0.5:
        return Value(lax.fori_loop(0, trips, lambda i, x: step(x), value.array), False)
    limit = jnp.int32(trips)
    _, result = lax.while_loop(
        lambda state: state[0] < limit,
        lambda state: (state[0] + 1, step(state[1])),
        (0, value.array),
    )
    return Value(result, False)


@operation(1)
def scanned(rng: np.random.Generator, pick: Pick) -> Value | None:
    value, step = real_float(pick()), _step(rng)
    if not value.rank or not 0 < value.shape[0] <= 17:
        return None
    reverse = bool(rng.random() < 0.3)
    carried, each = lax.scan(
        lambda c, x: (bounded(c + step(x)), c * 2),
        jnp.zeros_like(value.array[0]),
        value.array,
        reverse=reverse,
    )
    return Value(each if rng.random() < 0.6 else carried, False)


@operation(1)
def branch(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = real_float(pick())
    steps = [_step(rng) for _ in range(int(rng.integers(2, 4)))]
    number = next((v for v in (pick() for _ in range(3)) if v.exact and v.array.size), None)
    if number is None or number.kind in ("complex", "float"):
        index = jnp.int32(int(rng.integers(-1, 4)))
    else:
        index = number.array.reshape(-1)[0].astype(jnp.int32) % 3
    if len(steps) == 2:
        return Value(lax.cond(index > 0, *steps, value.array), False)
    return Value(lax.switch(index, steps, value.array), False)


@operation(1)
def gradient(rng: np.random.Generator, pick: Pick) -> Value | None:
    value, step = real_float(pick()), _step(rng)
    roll = rng.random()

    def total(x):
        if roll < 0.3:
            x = lax.fori_loop(0, 3, lambda i, x: step(x), x)
        elif roll < 0.5:
            x = jax.checkpoint(step)(x)
        else:
            x = step(x)
        return (x * x).astype(jnp.float32).sum()

    if roll > 0.85:
        return Value(jax.jvp(step, (value.array,), (jnp.ones_like(value.array),))[1], False)
    return Value(bounded(jax.grad(total)(value.array)), False)


@operation(1)
def mapped(rng: np.random.Generator, pick: Pick) -> Value | None:
    value, step = real_float(pick()), _step(rng)
    if not value.rank:
        return None
    dim = int(rng.integers(0, value.rank))
    out = int(rng.integers(0, value.rank))
    roll = rng.random()

    def inner(x):
        if roll < 0.3:
            return lax.cond(x.sum() > 1e9, step, lambda x: -x, x)
        if roll < 0.6 and x.ndim:
            return jnp.cumsum(step(x), 0)
        return jax.jit(step)(x)

    return Value(jax.vmap(inner, in_axes=dim, out_axes=out)(value.array), False)
