"""Steps of training, solving and simulating beside JAX's CPU backend."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
import transformer
from cpu_peer import PEER, Inputs, case, steps_pair
from jax.experimental.ode import odeint
from training import adam, adam_state, momentum_update
from xpu_bench import Case, Mean

PATHS = 10_000_000


def mlp_loss(weights: list, state: dict, x: Any, labels: Any) -> Any:
    for matrix, bias in weights[:-1]:
        x = jax.nn.relu(x @ matrix + bias)
    matrix, bias = weights[-1]
    scores = jax.nn.log_softmax(x @ matrix + bias)
    return -jnp.take_along_axis(scores, labels[:, None], 1).mean()


def mlp(inputs: Inputs) -> tuple:
    sizes = (784, 1024, 1024, 10)
    weights = [
        (inputs.normal(a, b, scale=a**-0.5), np.zeros(b, np.float32)) for a, b in pairwise(sizes)
    ]
    return adam_state(weights), inputs.normal(256, sizes[0]), inputs.integers(10, 256)


def convolve(x: Any, kernel: Any) -> Any:
    names = ("NHWC", "HWIO", "NHWC")
    return jax.lax.conv_general_dilated(x, kernel, (1, 1), "SAME", dimension_numbers=names)


def batch_norm(weights: dict, x: Any) -> tuple:
    """Normalized with the batch's mean and variance, which are given too."""
    mean, square = x.mean((0, 1, 2)), (x**2).mean((0, 1, 2))
    variance = square - mean**2
    scaled = (x - mean) * (jax.lax.rsqrt(variance + 1e-5) * weights["scale"])
    return scaled + weights["bias"], (mean, variance)


def block_loss(weights: list, x: Any, wanted: Any) -> tuple:
    """A residual block's distance from what is wanted, and its statistics."""
    y, seen = x, []
    for number, layer in enumerate(weights):
        y, statistics = batch_norm(layer, convolve(y, layer["kernel"]))
        seen.append(statistics)
        y = jax.nn.relu(y if number == 0 else y + x)
    return ((y - wanted) ** 2).mean(), seen


def block_step(state: dict, x: Any, wanted: Any) -> dict:
    of_loss = jax.value_and_grad(block_loss, has_aux=True)
    (value, seen), gradients = of_loss(state["weights"], x, wanted)
    weights, velocity = momentum_update(state["weights"], gradients, state["velocity"])
    running = jax.tree.map(lambda old, new: 0.9 * old + 0.1 * new, state["running"], seen)
    return {"weights": weights, "velocity": velocity, "running": running, "loss": value}


def block(inputs: Inputs) -> tuple:
    channels = 64
    ones, zeros = np.ones(channels, np.float32), np.zeros(channels, np.float32)
    weights = [
        {
            "kernel": inputs.normal(3, 3, channels, channels, scale=(9 * channels) ** -0.5),
            "scale": ones,
            "bias": zeros,
        }
        for _ in range(2)
    ]
    state = {
        "weights": weights,
        "velocity": jax.tree.map(np.zeros_like, weights),
        "running": [(zeros, ones)] * 2,
        "loss": np.float32(0),
    }
    shape = (8, 56, 56, channels)
    return state, inputs.normal(*shape), inputs.normal(*shape)


def lstm_loss(weights: dict, x: Any, wanted: Any) -> Any:
    """Of a scan over the first dimension of ``x``: time, batch, features."""

    def cell(carry: tuple, now: Any) -> tuple:
        hidden, memory = carry
        gates = now @ weights["in"] + hidden @ weights["hidden"] + weights["bias"]
        enter, forget, new, leave = jnp.split(gates, 4, -1)
        memory = jax.nn.sigmoid(forget) * memory + jax.nn.sigmoid(enter) * jnp.tanh(new)
        hidden = jax.nn.sigmoid(leave) * jnp.tanh(memory)
        return (hidden, memory), hidden

    empty = jnp.zeros((x.shape[1], weights["hidden"].shape[0]))
    _, every = jax.lax.scan(cell, (empty, empty), x)
    return ((every - wanted) ** 2).mean()


def lstm_step(state: tuple, x: Any, wanted: Any) -> tuple:
    weights, velocity, _ = state
    value, gradients = jax.value_and_grad(lstm_loss)(weights, x, wanted)
    return *momentum_update(weights, gradients, velocity), value


def lstm(inputs: Inputs) -> tuple:
    time, batch, width = 64, 32, 256
    weights = {
        "in": inputs.normal(width, 4 * width, scale=width**-0.5),
        "hidden": inputs.normal(width, 4 * width, scale=width**-0.5),
        "bias": np.zeros(4 * width, np.float32),
    }
    state = (weights, jax.tree.map(np.zeros_like, weights), np.float32(0))
    return state, inputs.normal(time, batch, width), inputs.normal(time, batch, width)


def solve(start: Any, times: Any) -> Any:
    """Lorenz' equations from many starts at once, by Dormand and Prince with steps of its own choice."""

    def slope(now: Any, time: Any) -> Any:
        x, y, z = now
        return jnp.stack([10 * (y - x), x * (28 - z) - y, x * y - 8 / 3 * z])

    return odeint(slope, start, times, rtol=1e-4, atol=1e-4)


def orbits(inputs: Inputs) -> tuple:
    return inputs.normal(3, 1 << 15), np.linspace(0, 1, 11, dtype=np.float32)


def price(key: Any) -> tuple:
    """A call option's price and its uncertainty, from the ends of many paths."""
    end = 100 * jnp.exp(-0.02 + 0.2 * jax.random.normal(key, (PATHS,)))
    payoff = jnp.maximum(end - 100, 0)
    return payoff.mean(), payoff.std() / PATHS**0.5


def draw(inputs: Inputs) -> tuple:
    return (jax.random.key(0),)


def cases() -> Iterator[Case | Mean]:
    for name, step, make in (
        ("MLP", adam(mlp_loss), mlp),
        ("2-layer transformer", transformer.step(), transformer.start),
        ("ResNet block", block_step, block),
        ("LSTM", lstm_step, lstm),
    ):
        yield Case(f"step: {name}", steps_pair(step, make), PEER, ">= 1.0")
    yield case("step: ODE of 32 k orbits", solve, orbits, ">= 1.0")
    yield case("step: Monte Carlo of 10 M paths", price, draw, ">= 1.0")
    yield Mean("steps, geometric mean", "step: *", ">= 1.2")
