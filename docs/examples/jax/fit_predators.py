"""Find the rates of a population of predators and prey from what was counted of them.

    python fit_predators.py [--steps 150] [--device xpu]

An ordinary differential equation is solved for many populations, each with steps of its own size, and solved
again, differentiated, in each step of the fit.
"""

import argparse

import jax
import jax.numpy as jnp

POPULATIONS, COUNTS, PARTS = 256, 20, 10
TRUE = jnp.array([1.1, 0.4, 0.1, 0.4])  # births, hunted, raised, deaths


def change(animals, rates):
    prey, predators = animals
    births, hunted, raised, deaths = rates
    return jnp.stack([prey * (births - hunted * predators), predators * (raised * prey - deaths)])


def solve(animals, rates, times):
    """The animals at each time, by Runge-Kutta's method of fourth order."""

    def to(animals, interval):
        h = interval / PARTS

        def part(_, y):
            a = change(y, rates)
            b = change(y + h / 2 * a, rates)
            c = change(y + h / 2 * b, rates)
            d = change(y + h * c, rates)
            return y + h / 6 * (a + 2 * b + 2 * c + d)

        animals = jax.lax.fori_loop(0, PARTS, part, animals)
        return animals, animals

    return jax.lax.scan(to, animals, jnp.diff(times, prepend=0.0))[1]


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--steps", type=int, default=150)
    parser.add_argument("--device", default="xpu")
    options = parser.parse_args()
    with jax.default_device(jax.devices(options.device)[0]):
        start_key, time_key, noise_key = jax.random.split(jax.random.key(0), 3)
        start = jax.random.uniform(start_key, (POPULATIONS, 2), minval=5.0, maxval=12.0)
        times = jnp.cumsum(jax.random.uniform(time_key, (POPULATIONS, COUNTS)), axis=1) * 0.5
        each = jax.vmap(solve, in_axes=(0, None, 0))
        counted = each(start, TRUE, times)
        counted *= jnp.exp(0.05 * jax.random.normal(noise_key, counted.shape))

        def loss(logs):
            return jnp.mean((jnp.log(each(start, jnp.exp(logs), times)) - jnp.log(counted)) ** 2)

        @jax.jit
        def fit_step(logs, speed):
            value, gradient = jax.value_and_grad(loss)(logs)
            speed = 0.8 * speed - 0.02 * gradient
            return logs + speed, speed, value

        logs, speed = jnp.log(TRUE * 1.4), jnp.zeros(4)
        for step in range(options.steps):
            logs, speed, value = fit_step(logs, speed)
            if step % 25 == 0:
                print(f"step {step} error {value:.5f}")
        print("rates", " ".join(f"{rate:.3f}" for rate in jnp.exp(logs)))


if __name__ == "__main__":
    main()
