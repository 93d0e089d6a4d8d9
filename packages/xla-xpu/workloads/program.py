"""A program with its inputs, and what its test must know of it."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

TRAINS = "what it returns has come from gradients"
WHOLE = "gives whole numbers"
DRAWS = "its samples follow from bits, not from a number"


@dataclasses.dataclass(frozen=True)
class Program:
    """A function of arrays; where it has no gradient, why.

    One that ``wavers`` chooses its steps by what rounding leaves: an ulp in its inputs moves JAX's own
    numbers by more than the tolerance. One in ``half`` precision gives no better numbers of single precision.
    """

    function: Callable[..., Any]
    arguments: tuple[Any, ...]
    no_gradient: str = ""
    marks: tuple[str, ...] = ()
    wavers: bool = False
    half: bool = False

    def gradient(self, *arguments: Any) -> Any:
        """With respect to all its inputs that are not whole, of a sum over all it gives."""
        leaves, tree = jax.tree.flatten(arguments)
        moving = {n: leaf for n, leaf in enumerate(leaves) if _is_inexact(leaf)}

        def total(moving: dict[int, Any]) -> Any:
            given = [moving.get(n, leaf) for n, leaf in enumerate(leaves)]
            results = jax.tree.leaves(self.function(*jax.tree.unflatten(tree, given)))
            return sum(_weighed(x, n) for n, x in enumerate(results) if _is_inexact(x))

        return jax.grad(total)(moving)


def program(
    function: Callable[..., Any],
    *arguments: Any,
    no_gradient: str = "",
    marks: str = "",
    wavers: bool = False,
    half: bool = False,
) -> Program:
    """One line of a table; ``marks`` are pytest's, several with spaces between."""
    return Program(function, arguments, no_gradient, tuple(marks.split()), wavers, half)


def numbers(*shape: int, seed: int = 0) -> np.ndarray:
    """Normally distributed, in f32."""
    return np.random.default_rng(seed).standard_normal(shape).astype(np.float32)


def between(low: float, high: float, *shape: int, seed: int = 0) -> np.ndarray:
    """Evenly distributed, in f32."""
    return np.random.default_rng(seed).uniform(low, high, shape).astype(np.float32)


def whole(end: int, *shape: int, seed: int = 0) -> np.ndarray:
    """Numbers from 0 on, in s32."""
    return np.random.default_rng(seed).integers(0, end, shape).astype(np.int32)


def filled(shapes: Any, scale: float = 0.3) -> Any:
    """A tree of arrays as ``jax.eval_shape`` describes it, without a device having made them."""
    leaves, tree = jax.tree.flatten(shapes)
    arrays = [numbers(*leaf.shape, seed=n) * scale for n, leaf in enumerate(leaves)]
    return jax.tree.unflatten(
        tree, [a.astype(x.dtype) for a, x in zip(arrays, leaves, strict=True)]
    )


def _is_inexact(array: Any) -> bool:
    return jnp.issubdtype(jnp.result_type(array), jnp.inexact)


def _weighed(array: jax.Array, number: int) -> jax.Array:
    """Each element counts differently, so that none stands for another."""
    parts = [array.real, array.imag] if jnp.iscomplexobj(array) else [array]
    weights = jnp.cos(number + jnp.arange(array.size, dtype=jnp.float32)).reshape(array.shape)
    return sum((part * weights).sum().astype(jnp.float32) for part in parts)
