"""What random programs are made of: arrays, with what may be asked of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

# Elements that an array may have at most.
MOST = 20_000
_SIZES = (0, 1, 2, 3, 4, 5, 7, 8, 13, 16, 17, 33, 64)
_OFTEN = (1, 2, 3, 4, 5, 7, 8, 13, 17)
FLOATS = ("float32", "float32", "float32", "bfloat16", "float16")
INTEGERS = ("int32", "int32", "uint8", "int8", "uint16", "int16", "uint32")
WIDE = ("float64", "int64", "uint64", "complex128")


@dataclass(frozen=True)
class Value:
    """``exact``: both sides have the very same numbers, so what is not continuous may be done to them."""

    array: Any
    exact: bool

    @property
    def shape(self) -> tuple[int, ...]:
        return self.array.shape

    @property
    def rank(self) -> int:
        return len(self.array.shape)

    @property
    def kind(self) -> str:
        """One of "float", "int", "bool", "complex"."""
        dtype = self.array.dtype
        if dtype == np.bool_:
            return "bool"
        if jnp.issubdtype(dtype, jnp.integer):
            return "int"
        return "complex" if jnp.issubdtype(dtype, jnp.complexfloating) else "float"


def random_shape(rng: np.random.Generator, max_rank: int = 4) -> tuple[int, ...]:
    """Mostly small and of few dimensions; at times empty, or of very many dimensions."""
    if rng.random() < 0.04:
        rank = int(rng.integers(6, 14))
        shape = [int(size) for size in rng.choice([1, 1, 2], rank)]
    else:
        rank = int(rng.integers(0, max_rank + 1))
        sizes = _SIZES if rng.random() < 0.3 else _OFTEN
        shape = [int(size) for size in rng.choice(sizes, rank)]
    while np.prod(shape) > MOST:
        shape[int(np.argmax(shape))] //= 2
    return tuple(shape)


def random_dtype(rng: np.random.Generator, wide: bool) -> str:
    """Floats most of all; ``wide``: those of 64 bits too."""
    roll = rng.random()
    if wide and roll < 0.25:
        return str(rng.choice(WIDE))
    if roll < 0.65:
        return str(rng.choice(FLOATS))
    if roll < 0.88:
        return str(rng.choice(INTEGERS))
    return "bool" if roll < 0.94 else "complex64"


def random_array(rng: np.random.Generator, shape: tuple[int, ...], dtype: str) -> np.ndarray:
    """Numbers of few digits, so that sums and products of some are exact; seldom NaN or an infinity."""
    if dtype == "bool":
        return rng.random(shape) < 0.5
    if dtype.startswith(("int", "uint")):
        info = jnp.iinfo(dtype)
        if rng.random() < 0.3:
            low, high = int(info.min), int(info.max)
            numbers = rng.integers(low, high, shape, dtype=dtype, endpoint=True)
            return np.asarray(numbers)
        low = 0 if dtype.startswith("u") else -9
        return rng.integers(low, 10, shape).astype(dtype)
    numbers = rng.integers(-24, 25, shape) / 8
    if rng.random() < 0.1 and numbers.size:
        numbers.flat[int(rng.integers(numbers.size))] = rng.choice(
            [np.nan, np.nan, np.inf, -np.inf]
        )
    if dtype.startswith("complex"):
        return (numbers + 1j * rng.integers(-24, 25, shape) / 8).astype(dtype)
    return numbers.astype(jnp.dtype(dtype))


def real_float(value: Value) -> Value:
    """The value, made a float of moderate size if it is none."""
    if value.kind == "float":
        return value
    array = jnp.abs(value.array) if value.kind == "complex" else value.array
    if value.kind == "int":
        array = (array % 17).astype(jnp.float32) / 4
    return Value(jnp.asarray(array).astype(jnp.float32), value.exact and value.kind != "complex")


def small_enough(shape: tuple[int, ...]) -> bool:
    """Whether an array of the shape may be made."""
    return int(np.prod(shape)) <= MOST


def bounded(array: Any) -> Any:
    """Floats brought to where their functions do not grow."""
    if not jnp.issubdtype(array.dtype, jnp.inexact):
        return array
    if jnp.issubdtype(array.dtype, jnp.complexfloating):
        return array / (1 + jnp.abs(array)).astype(array.dtype)
    return jax.lax.div(array, 1 + jnp.abs(array) / 8)
