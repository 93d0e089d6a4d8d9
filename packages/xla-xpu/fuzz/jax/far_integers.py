"""Integers far from zero: constants, positions, and indices made of them."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from operations import Pick, operation
from values import Value

# Around these, positions and products leave 32 bits.
_POWERS = (2**31, 2**32, 2**33, 2**40, 3_000_000_000)
_DIVISORS = (3, 7, -3, 1000, 2**31, 2**33 + 1, -(2**40))


def _constant(rng: np.random.Generator) -> int:
    near = int(rng.choice(_POWERS)) + int(rng.choice([-1, 0, 0, 1, 17]))
    return near if rng.random() < 0.7 else -near


@operation(2)
def far_integers(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    count = int(rng.choice([5, 17, 64, 1000, 20_000]))
    if not jax.config.jax_enable_x64:
        return None
    place = jnp.arange(count, dtype=jnp.int64)
    roll = rng.random()
    if roll < 0.2:  # parts of arrays that are far larger than memory
        size = int(rng.choice([2**33, 2**40]))
        step = int(rng.choice([1, 2**20, size // count]))
        begin = int(rng.integers(0, size - step * (count - 1)))
        end = begin + step * (count - 1) + 1
        far = lax.slice(lax.iota(jnp.int64, size), (begin,), (end,), (step,))
        return Value(far, True)
    if roll < 0.3:
        whole = lax.broadcast(place[:3], (2**33,))
        begin = int(rng.integers(0, 2**33 - count))
        return Value(lax.slice(whole, (begin, 0), (begin + count, 3)), True)
    numbers = [place * _constant(rng) + _constant(rng), place * place * int(rng.choice([1, 40503]))]
    if value.kind == "int" and value.exact and value.rank:
        numbers.append(value.array.reshape(-1).astype(jnp.int64) * _constant(rng))
    number = numbers[int(rng.integers(0, len(numbers)))]
    divisor = int(rng.choice(_DIVISORS))
    if roll < 0.5:
        return Value(jnp.floor_divide(number, divisor), True)
    if roll < 0.6:
        return Value(jnp.remainder(number, divisor), True)
    if roll < 0.7:
        return Value(number.astype(jnp.float32), True)
    if roll < 0.8:
        return Value(jnp.where(number > _constant(rng), number, _constant(rng)), True)
    if not value.rank or 0 in value.shape:
        return Value(number, True)
    index = number[:64] % value.shape[0]
    return Value(jnp.take(value.array, index, 0, mode="clip"), value.exact)
