"""The JAX part of ``xpu-sdk demo``: training and random numbers on xpu and on JAX's CPU."""

from __future__ import annotations

from typing import Any


def run(stage: Any) -> None:
    """Training, random numbers, a loop."""
    import jax

    device = jax.devices("xpu")[0]
    stage.say(f"import jax, and jax.devices() begins with {device}: {device.device_kind}")
    train(stage, jax)
    simulate(stage, jax)


def train(stage: Any, jax: Any) -> None:
    """The same steps on both devices, from the same weights."""
    jnp = jax.numpy

    def loss(weights: Any, x: Any, y: Any) -> Any:
        for matrix in weights[:-1]:
            x = jax.nn.gelu(x @ matrix)
        scores = jax.nn.log_softmax(x @ weights[-1])
        return -jnp.take_along_axis(scores, y[:, None], 1).mean()

    @jax.jit
    def step(weights: Any, x: Any, y: Any) -> Any:
        value, gradients = jax.value_and_grad(loss)(weights, x, y)
        return [w - 0.1 * g for w, g in zip(weights, gradients, strict=True)], value

    last = {}
    for platform in ("cpu", "xpu"):
        with jax.default_device(jax.devices(platform)[0]):
            keys = jax.random.split(jax.random.key(0), 4)
            sizes = (784, 256, 256, 10)
            weights = [
                jax.random.normal(key, (a, b)) / a**0.5
                for key, a, b in zip(keys, sizes, sizes[1:], strict=False)
            ]
            x = jax.random.normal(keys[3], (256, 784))
            y = jnp.arange(256) % 10
            with stage.timed(f"20 training steps with jax.jit on {platform}"):
                for _ in range(20):
                    weights, value = step(weights, x, y)
                last[platform] = float(value)
    close = abs(last["xpu"] - last["cpu"]) <= 0.01 * abs(last["cpu"])
    stage.result("last loss", f"xpu {last['xpu']:.5f}, cpu {last['cpu']:.5f}", close)


def simulate(stage: Any, jax: Any) -> None:
    """Random numbers are the CPU's, bit for bit."""
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
