"""Operations at places that indices say."""

from __future__ import annotations

from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from operations import Pick, fitted, operation
from values import MOST, Value


def _indices(rng: np.random.Generator, count: int, shape: tuple[int, ...]) -> np.ndarray:
    low, high = (-count, count) if rng.random() < 0.3 else (0, count)
    if rng.random() < 0.15:  # beyond the ends
        low, high = low - 2, high + 2
    dtype = str(rng.choice(["int32", "int32", "int8", "uint32"]))
    numbers = rng.integers(low, max(high, low + 1), shape)
    return (numbers % max(count, 1) if dtype == "uint32" else numbers).astype(dtype)


@operation(2)
def taken(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank or 0 in value.shape:
        return None
    dim = int(rng.integers(0, value.rank))
    size = value.shape[dim]
    mode = str(rng.choice(["clip", "fill", "wrap", "promise_in_bounds"]))
    roll = rng.random()
    if roll < 0.4:
        index = _indices(rng, size, (int(rng.integers(0, 6)),) * int(rng.integers(0, 3)))
        if mode == "promise_in_bounds":
            index = np.abs(index) % size
        if value.array.size * max(1, index.size) > 4 * MOST:
            return None
        return Value(jnp.take(value.array, index, dim, mode=mode), value.exact)
    if roll < 0.7:
        shape = list(value.shape)
        shape[dim] = int(rng.integers(1, 5))
        index = np.clip(_indices(rng, size, tuple(shape)), 0, size - 1)
        return Value(jnp.take_along_axis(value.array, index, dim), value.exact)
    index = jnp.asarray(_indices(rng, size, ()))
    return Value(lax.dynamic_index_in_dim(value.array, index.astype(jnp.int32), dim), value.exact)


@operation(2)
def updated(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank or 0 in value.shape:
        return None
    name = str(rng.choice(["add", "max", "min", "set", "multiply"]))
    if value.kind in ("bool", "complex") and name != "set":
        return None
    count = int(rng.integers(1, 6))
    index = _indices(rng, value.shape[0], (count,))
    if name == "set":
        index = np.unique(index % value.shape[0])
    part = fitted(pick_like(value), (len(index), *value.shape[1:]))
    reference = value.array.at[index]
    return Value(getattr(reference, name)(part), value.exact and name in ("max", "min", "set"))


@operation(1)
def picked(rng: np.random.Generator, pick: Pick) -> Value | None:
    """By an index for each of some dimensions, which may be very many."""
    value = pick()
    if not value.rank or 0 in value.shape:
        return None
    shape = (int(rng.integers(1, 5)),)
    index: list[Any] = [
        slice(None) if rng.random() < 0.2 else _indices(rng, size, shape) for size in value.shape
    ]
    if all(isinstance(each, slice) for each in index):
        return None
    reference = value.array.at[tuple(index)]
    if rng.random() < 0.5 or value.kind in ("bool", "complex"):
        mode = str(rng.choice(["clip", "fill", "wrap"]))
        return Value(reference.get(mode=mode), value.exact)
    name = str(rng.choice(["add", "max", "min"]))
    part = np.array(2, value.array.dtype)
    return Value(getattr(reference, name)(part), value.exact and name != "add")


def pick_like(value: Value) -> Any:
    """Numbers beside those of a value."""
    array = value.array[::-1]
    return jnp.logical_not(array) if value.kind == "bool" else array


@operation(1.5)
def moving_slice(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if 0 in value.shape:
        return None
    sizes = [int(rng.integers(1, size + 1)) for size in value.shape]
    starts = [jnp.int32(int(rng.integers(-2, size + 2))) for size in value.shape]
    part = lax.dynamic_slice(value.array, starts, sizes)
    if rng.random() < 0.5:
        return Value(part, value.exact)
    # Not a part of the same array: JAX's CPU may update it in place while it is still read.
    part = jnp.arange(part.size).astype(value.array.dtype).reshape(part.shape)
    back = [jnp.int32(int(rng.integers(0, size + 1))) for size in value.shape]
    return Value(lax.dynamic_update_slice(value.array, part, back), value.exact)


@operation(0.7)
def segments(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank or value.kind in ("bool", "complex"):
        return None
    ids = rng.integers(0, 4, value.shape[0]).astype(np.int32)
    name = str(rng.choice(["sum", "max", "min"]))
    if value.kind == "float" and name != "sum":
        return None
    return Value(getattr(jax.ops, f"segment_{name}")(value.array, ids, 4), False)
