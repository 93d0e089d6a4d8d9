"""A decoder of two layers and its training step, with dropout and Adam, in nothing but JAX."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from cpu_peer import Inputs
from training import adam, adam_state

WORDS, WIDTH, HEADS, LAYERS, BATCH, LENGTH, DROPOUT = 4096, 256, 8, 2, 8, 128, 0.1


def start(inputs: Inputs) -> tuple[dict, Any]:
    """The state before the first step, and the tokens."""

    def matrix(rows: int, columns: int) -> Any:
        return inputs.normal(rows, columns, scale=rows**-0.5)

    def norm() -> dict:
        return {"scale": np.ones(WIDTH, np.float32), "bias": np.zeros(WIDTH, np.float32)}

    layers = [
        {
            "attention norm": norm(),
            "qkv": matrix(WIDTH, 3 * WIDTH),
            "out": matrix(WIDTH, WIDTH),
            "feed norm": norm(),
            "up": matrix(WIDTH, 4 * WIDTH),
            "down": matrix(4 * WIDTH, WIDTH),
        }
        for _ in range(LAYERS)
    ]
    weights = {
        "words": inputs.normal(WORDS, WIDTH, scale=0.02),
        "places": inputs.normal(LENGTH, WIDTH, scale=0.02),
        "layers": layers,
        "norm": norm(),
    }
    return adam_state(weights, key=jax.random.key(0)), inputs.integers(WORDS, BATCH, LENGTH + 1)


def layer_norm(weights: dict, x: Any) -> Any:
    centered = x - x.mean(-1, keepdims=True)
    scaled = centered * jax.lax.rsqrt((centered**2).mean(-1, keepdims=True) + 1e-5)
    return scaled * weights["scale"] + weights["bias"]


def dropout(key: Any, x: Any) -> Any:
    return jnp.where(jax.random.bernoulli(key, 1 - DROPOUT, x.shape), x / (1 - DROPOUT), 0)


def attend(layer: dict, x: Any) -> Any:
    batch, length, _ = x.shape
    qkv = (x @ layer["qkv"]).reshape(batch, length, 3, HEADS, WIDTH // HEADS)
    q, k, v = qkv[:, :, 0], qkv[:, :, 1], qkv[:, :, 2]
    scores = jnp.einsum("bqhd,bkhd->bhqk", q, k) * (WIDTH // HEADS) ** -0.5
    causal = jnp.tril(jnp.ones((length, length), bool))
    shares = jax.nn.softmax(jnp.where(causal, scores, -1e9))
    return jnp.einsum("bhqk,bkhd->bqhd", shares, v).reshape(x.shape) @ layer["out"]


def loss(weights: dict, state: dict, tokens: Any) -> Any:
    """Mean surprise at each next token."""
    keys = jax.random.split(jax.random.fold_in(state["key"], state["count"]), 2 * LAYERS)
    x = weights["words"][tokens[:, :-1]] + weights["places"]
    for number, layer in enumerate(weights["layers"]):
        x += dropout(keys[2 * number], attend(layer, layer_norm(layer["attention norm"], x)))
        fed = jax.nn.gelu(layer_norm(layer["feed norm"], x) @ layer["up"]) @ layer["down"]
        x += dropout(keys[2 * number + 1], fed)
    scores = jax.nn.log_softmax(layer_norm(weights["norm"], x) @ weights["words"].T)
    return -jnp.take_along_axis(scores, tokens[:, 1:, None], -1).mean()


def step() -> Callable:
    """From a state and tokens to the next state."""
    return adam(loss)
