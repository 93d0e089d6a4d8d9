"""The JAX part of ``xpu-sdk demo``: training and random numbers on xpu and on JAX's CPU."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any


def run(stage: Any) -> None:
    """Train a network, then price an option with random numbers."""
    import jax

    device = jax.devices("xpu")[0]
    stage.say(f"import jax, and jax.devices() begins with {device}: {device.device_kind}")
    train(stage, jax)
    simulate(stage, jax)


def train(stage: Any, jax: Any) -> None:
    """Train the same network on both devices, from the same weights."""
    jnp = jax.numpy

    def loss(weights: Any, x: Any, y: Any) -> Any:
        for matrix in weights[:-1]:
            x = jax.nn.gelu(x @ matrix)
        scores = jax.nn.log_softmax(x @ weights[-1])
        return -jnp.take_along_axis(scores, y[:, None], 1).mean()

    @jax.jit
    def update(weights: Any, x: Any, y: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        return [w - 0.1 * g for w, g in zip(weights, gradients, strict=True)], value

    def training_step(platform: str) -> Callable[[], float]:
        device = jax.devices(platform)[0]
        with jax.default_device(device):
            keys = jax.random.split(jax.random.key(0), 4)
            sizes = (784, 256, 256, 10)
            weights = [
                jax.random.normal(key, (a, b)) / a**0.5
                for key, a, b in zip(keys, sizes, sizes[1:], strict=False)
            ]
            x = jax.random.normal(keys[3], (256, 784))
            y = jnp.arange(256) % 10

        def step() -> float:
            nonlocal weights
            with jax.default_device(device):
                weights, value = update(weights, x, y)
                return float(value)

        return step

    program = "JAX with jax.jit, dense net, batch 256"
    cpu, xpu = stage.compare_steps(program, training_step("cpu"), training_step("xpu"))
    close = abs(xpu - cpu) <= 0.01 * abs(cpu)
    stage.result("loss after 20 steps", f"xpu {xpu:.5f}, cpu {cpu:.5f}", close)


def simulate(stage: Any, jax: Any) -> None:
    """Price an option on both devices, which draw the same random numbers bit for bit."""
    jnp = jax.numpy

    def price(key: Any) -> Any:
        end = 100 * jnp.exp(-0.02 + 0.2 * jax.random.normal(key, (1_000_000,)))
        return jnp.maximum(end - 100, 0).mean()

    prices = {
        platform: float(jax.jit(price, device=jax.devices(platform)[0])(jax.random.key(1)))
        for platform in ("cpu", "xpu")
    }
    right = abs(prices["xpu"] - prices["cpu"]) < 1e-3
    stage.result(
        "an option's price, 1 M paths", f"{prices['xpu']:.4f} of {prices['cpu']:.4f}", right
    )
