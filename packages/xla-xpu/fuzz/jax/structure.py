"""Operations that move elements: shapes, order, parts, and arrays put together."""

from __future__ import annotations

import jax.numpy as jnp
import numpy as np
from jax import lax
from operations import Pick, fitted, operation, with_one_shape
from values import MOST, Value, small_enough


@operation(2)
def reshape(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    sizes = list(value.shape)
    count = int(np.prod(sizes))
    roll = rng.random()
    if roll < 0.3:
        return Value(value.array.reshape(-1), value.exact)
    if roll < 0.5 and value.rank < 13:
        at = int(rng.integers(0, value.rank + 1))
        return Value(jnp.expand_dims(value.array, at), value.exact)
    divisors = [n for n in range(2, 20) if count and count % n == 0]
    if not divisors:
        return Value(jnp.squeeze(value.array), value.exact)
    first = int(rng.choice(divisors))
    shape = (first, count // first) if rng.random() < 0.5 else (count // first, 1, first)
    return Value(value.array.reshape(shape), value.exact)


@operation(2)
def transpose(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    order = [int(d) for d in rng.permutation(value.rank)]
    return Value(jnp.transpose(value.array, order), value.exact)


@operation(1)
def broadcast(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    shape = [int(rng.choice([2, 3, 5])) if size == 1 else size for size in value.shape]
    if value.rank < 12:
        shape = [int(rng.choice([1, 2, 4])), *shape]
    if not small_enough(tuple(shape)):
        return None
    return Value(jnp.broadcast_to(value.array, shape), value.exact)


@operation(1)
def reverse(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    dims = [d for d in range(value.rank) if rng.random() < 0.5]
    return Value(lax.rev(value.array, dims), value.exact)


@operation(2)
def slices(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    starts, limits, steps = [], [], []
    for size in value.shape:
        start = int(rng.integers(0, size // 2 + 1))
        starts.append(start)
        limits.append(int(rng.integers(start, size + 1)) if rng.random() < 0.2 else size)
        steps.append(int(rng.integers(1, 4)))
    return Value(lax.slice(value.array, starts, limits, steps), value.exact)


@operation(1.5)
def pads(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    config, sizes = [], []
    for size in value.shape:
        low, high = (int(n) for n in rng.integers(-1 if size > 4 else 0, 3, 2))
        inside = int(rng.integers(0, 2))
        config.append((low, high, inside))
        sizes.append(size + low + high + max(0, size - 1) * inside)
    if not small_enough(tuple(sizes)) or min(sizes, default=0) < 0:
        return None
    return Value(lax.pad(value.array, np.array(1, value.array.dtype), config), value.exact)


@operation(1.5)
def joined(rng: np.random.Generator, pick: Pick) -> Value | None:
    a, b = with_one_shape(rng, pick(), pick())
    if a.rank == 0:
        return Value(jnp.stack([a.array, fitted(b.array, ())]), a.exact and b.exact)
    dim = int(rng.integers(0, a.rank))
    parts = [a.array, fitted(b.array, a.shape)]
    if rng.random() < 0.3:
        parts.append(
            parts[0][tuple(slice(0, 1) if d == dim else slice(None) for d in range(a.rank))]
        )
    if a.array.size * 3 > MOST:
        return None
    return Value(jnp.concatenate(parts, dim), a.exact and b.exact)


@operation(1)
def rolled(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank:
        return None
    dim = int(rng.integers(0, value.rank))
    name = str(rng.choice(["roll", "tile", "repeat", "tril"]))
    if name == "roll":
        return Value(jnp.roll(value.array, int(rng.integers(-5, 6)), dim), value.exact)
    if name == "tril" and value.rank >= 2:
        return Value(jnp.tril(value.array, int(rng.integers(-2, 3))), value.exact)
    if value.array.size * 2 > MOST or value.rank > 8:
        return None
    if name == "tile":
        return Value(jnp.tile(value.array, (2,)), value.exact)
    return Value(jnp.repeat(value.array, 2, dim), value.exact)
