"""Price an option on the mean of a price by Monte Carlo, with its sensitivities.

    python price_options.py [--paths 1000000] [--steps 64] [--device xpu]

A path is never in memory: its random numbers are drawn inside the loop over time, which is one kernel.
"""

import argparse

import jax
import jax.numpy as jnp

START, STRIKE, RATE, VOLATILITY, YEARS = 100.0, 105.0, 0.03, 0.2, 1.0


def price(start, volatility, key, paths, steps):
    """The discounted mean of what the option pays, and its standard error."""
    dt = YEARS / steps
    drift, spread = (RATE - volatility**2 / 2) * dt, volatility * jnp.sqrt(dt)

    def step(state, key):
        log_price, total = state
        log_price = log_price + drift + spread * jax.random.normal(key, (paths,))
        return (log_price, total + jnp.exp(log_price)), None

    first = (jnp.full(paths, jnp.log(start)), jnp.zeros(paths))
    (_, total), _ = jax.lax.scan(step, first, jax.random.split(key, steps))
    pays = jnp.exp(-RATE * YEARS) * jnp.maximum(total / steps - STRIKE, 0)
    return pays.mean(), pays.std() / jnp.sqrt(paths)


def main():
    parser = argparse.ArgumentParser()
    parser.add_argument("--paths", type=int, default=1_000_000)
    parser.add_argument("--steps", type=int, default=64)
    parser.add_argument("--device", default="xpu")
    options = parser.parse_args()

    @jax.jit
    def valued(start, volatility, key):
        return jax.value_and_grad(price, argnums=(0, 1), has_aux=True)(
            start, volatility, key, options.paths, options.steps
        )

    with jax.default_device(jax.devices(options.device)[0]):
        (value, error), (delta, vega) = valued(START, VOLATILITY, jax.random.key(0))
    print(f"price {value:.4f} +- {error:.4f}, delta {delta:.4f}, vega {vega:.3f}")


if __name__ == "__main__":
    main()
