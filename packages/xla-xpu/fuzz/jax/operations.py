"""What random programs are made of, by name, and what operations share to make their operands fit.

An operation takes random numbers and a function that picks a value there is; it may refuse that with None.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax.numpy as jnp
import numpy as np
from values import Value, small_enough

Pick = Callable[[], Value]
Operation = Callable[[np.random.Generator, Pick], "Value | None"]
OPERATIONS: dict[str, tuple[Operation, float]] = {}


def operation(weight: float = 1.0) -> Callable[[Operation], Operation]:
    """Makes a function an operation of its name."""

    def register(function: Operation) -> Operation:
        OPERATIONS[function.__name__] = (function, weight)
        return function

    return register


def with_one_shape(rng: np.random.Generator, a: Value, b: Value) -> tuple[Value, Value]:
    """Of one dtype, and of shapes that broadcast."""
    x, y = a.array, b.array
    if x.dtype != y.dtype:
        if "complex" in (a.kind, b.kind) and b.kind != "complex":
            x, y, a, b = y, x, b, a
        if b.kind == "float" and a.kind in ("int", "bool"):
            x, y, a, b = y, x, b, a
        exact_b = b.exact
        if b.kind == "complex":
            y = jnp.real(y)
        if b.kind == "int" and a.kind != "int":
            y = y % np.array(17, y.dtype)
        y = y.astype(x.dtype)
        b = Value(y, exact_b and b.kind != "float")
    if x.shape != y.shape:
        try:
            shape = np.broadcast_shapes(x.shape, y.shape)
            if not small_enough(shape):
                raise ValueError
        except ValueError:
            # A corner of the one, or its first element.
            y = fitted(y, x.shape)
    return Value(x, a.exact), Value(y, b.exact)


def fitted(y: Any, shape: tuple[int, ...]) -> Any:
    """As much of an array as there is, brought to a shape."""
    if y.size == 0:
        return jnp.zeros(shape, y.dtype)
    flat = y.reshape(-1)
    count = int(np.prod(shape))
    return jnp.resize(flat, (count,)).reshape(shape) if count else jnp.zeros(shape, y.dtype)
