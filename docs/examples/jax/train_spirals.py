"""Train a perceptron on spirals, with optax.

    python train_spirals.py [--steps 400] [--device xpu]

Parameters and the optimizer's state are donated: each step writes the new ones where the old ones were.
"""

import argparse
import functools
import itertools

import jax
import jax.numpy as jnp
import optax

WIDTHS, ARMS = (2, 128, 128, 3), 3


def start(key):
    layers = []
    for wide, narrow in itertools.pairwise(WIDTHS):
        key, own = jax.random.split(key)
        weights = jax.random.normal(own, (wide, narrow)) * jnp.sqrt(2 / wide)
        layers.append((weights, jnp.zeros(narrow)))
    return layers


def scores(layers, x):
    for weights, bias in layers[:-1]:
        x = jax.nn.gelu(x @ weights + bias)
    weights, bias = layers[-1]
    return x @ weights + bias


def points(key, count):
    """Points on spiral arms, and the arm of each."""
    arm_key, place_key, noise_key = jax.random.split(key, 3)
    arm = jax.random.randint(arm_key, (count,), 0, ARMS)
    r = jnp.sqrt(jax.random.uniform(place_key, (count,)))
    angle = 4 * r + 2 * jnp.pi / ARMS * arm
    x = r[:, None] * jnp.stack([jnp.cos(angle), jnp.sin(angle)], -1)
    return x + 0.02 * jax.random.normal(noise_key, x.shape), arm


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=400)
    parser.add_argument("--device", default="xpu")
    options = parser.parse_args()
    optimizer = optax.adamw(optax.cosine_decay_schedule(5e-3, options.steps))

    @functools.partial(jax.jit, donate_argnums=(0, 1))
    def step(layers, state, key):
        x, arm = points(key, 2048)

        def loss(layers):
            return optax.softmax_cross_entropy_with_integer_labels(scores(layers, x), arm).mean()

        value, gradient = jax.value_and_grad(loss)(layers)
        updates, state = optimizer.update(gradient, state, layers)
        return optax.apply_updates(layers, updates), state, value

    with jax.default_device(jax.devices(options.device)[0]):
        layers = start(jax.random.key(0))
        state = optimizer.init(layers)
        for number, key in enumerate(jax.random.split(jax.random.key(1), options.steps)):
            layers, state, value = step(layers, state, key)
            if number % 100 == 0:
                print(f"step {number} loss {value:.4f}")
        x, arm = points(jax.random.key(2), 4096)
        right = (scores(layers, x).argmax(-1) == arm).mean()
    print(f"right: {right:.3f}")


if __name__ == "__main__":
    main()
