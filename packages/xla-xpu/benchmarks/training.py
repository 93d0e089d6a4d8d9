"""Optimizers as JAX users write them: a step takes a state and gives the next."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np

RATE, DECAY, SQUARE_DECAY, EPSILON, MOMENTUM = 1e-3, 0.9, 0.999, 1e-8, 0.9


def adam_update(weight: Any, gradient: Any, mean: Any, square: Any, count: Any) -> tuple:
    """The next weight, mean and mean square of one array."""
    mean = DECAY * mean + (1 - DECAY) * gradient
    square = SQUARE_DECAY * square + (1 - SQUARE_DECAY) * gradient**2
    unbiased = mean / (1 - DECAY**count)
    spread = jnp.sqrt(square / (1 - SQUARE_DECAY**count)) + EPSILON
    return weight - RATE * unbiased / spread, mean, square


def adam_state(weights: Any, **more: Any) -> dict:
    """The state before the first step of :func:`adam`; ``more`` is carried along."""
    zeros = jax.tree.map(np.zeros_like, weights)
    return dict(
        more,
        weights=weights,
        mean=zeros,
        square=zeros,
        count=np.float32(0),
        loss=np.float32(0),
    )


def adam(loss: Callable) -> Callable:
    """The step of Adam on ``loss(weights, state, *inputs)``."""

    def step(state: dict, *inputs: Any) -> dict:
        value, gradients = jax.value_and_grad(loss)(state["weights"], state, *inputs)
        count = state["count"] + 1
        updated = [
            adam_update(*arrays, count)
            for arrays in zip(
                *map(
                    jax.tree.leaves, (state["weights"], gradients, state["mean"], state["square"])
                ),
                strict=True,
            )
        ]
        structure = jax.tree.structure(state["weights"])
        weights, mean, square = (
            jax.tree.unflatten(structure, column) for column in zip(*updated, strict=True)
        )
        return dict(state, weights=weights, mean=mean, square=square, count=count, loss=value)

    return step


def momentum_update(weights: Any, gradients: Any, velocity: Any) -> tuple:
    """The next weights and velocity of a tree of arrays."""
    velocity = jax.tree.map(lambda v, g: MOMENTUM * v + g, velocity, gradients)
    return jax.tree.map(lambda w, v: w - RATE * v, weights, velocity), velocity
