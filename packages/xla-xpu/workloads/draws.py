"""jax.random: bits that are JAX's own, and each distribution made of them."""

import jax
import jax.numpy as jnp
import numpy as np

from .program import DRAWS, Program, between, numbers, program

SEED = np.int32(7)
RATES = between(0.5, 4, 30)
PLACES = numbers(30)


def drawn(draw, *arguments, decides=False):
    """``draw`` with a key, whose samples have a gradient with respect to its arguments if there are any.

    ``decides``: it draws until the draws are good, without end where nothing is computed.
    """
    return Program(
        lambda seed, *arguments: draw(jax.random.key(seed), *arguments),
        (SEED, *arguments),
        "" if arguments else DRAWS,
        ("values",) * decides,
    )


r = jax.random
WORKLOADS = {
    "bits": drawn(lambda k: (r.bits(k, (33,)), r.bits(k, (5,), "uint8"))),
    "keys": drawn(lambda k: r.key_data(r.split(r.fold_in(k, 3), (2, 3)))),
    "uniform": drawn(lambda k: (r.uniform(k, (9, 5)), r.uniform(k, (7,), minval=-3, maxval=2))),
    "normal": drawn(lambda k, m, s: m + s * r.normal(k, m.shape), PLACES, RATES),
    "normal complex": drawn(lambda k: r.normal(k, (8,), jnp.complex64)),
    "normal bfloat16": drawn(lambda k: r.normal(k, (8, 9), jnp.bfloat16)),
    "truncated normal": drawn(lambda k, m: r.truncated_normal(k, m - 1, m + 1), PLACES),
    "bernoulli": drawn(lambda k: r.bernoulli(k, 0.3, (50,))),
    "beta": drawn(lambda k, a: r.beta(k, a, a + 1), RATES, decides=True),
    "ball": drawn(lambda k: r.ball(k, 3, shape=(9,)), decides=True),
    "binomial": drawn(lambda k: r.binomial(k, 20, RATES / 5), decides=True),
    "categorical": drawn(lambda k: r.categorical(k, jnp.arange(5.0), shape=(20,))),
    "cauchy": drawn(lambda k: r.cauchy(k, (20,))),
    "chi squared": drawn(lambda k, a: r.chisquare(k, a), RATES, decides=True),
    "choice": drawn(lambda k: (r.choice(k, 30, (9,)), r.choice(k, 30, (9,), replace=False))),
    "weighted choice": drawn(lambda k: r.choice(k, 30, (9,), p=RATES / RATES.sum())),
    "dirichlet": drawn(lambda k, a: r.dirichlet(k, a, (3,)), RATES, decides=True),
    "maxwell": drawn(lambda k: (r.maxwell(k, (9,)), r.double_sided_maxwell(k, 0.5, 2.0, (9,)))),
    "exponential": drawn(lambda k, a: r.exponential(k, a.shape) / a, RATES),
    "gamma": drawn(lambda k, a: r.gamma(k, a), RATES, decides=True),
    "log gamma": drawn(lambda k, a: r.loggamma(k, a), RATES, decides=True),
    "generalized normal": drawn(lambda k: r.generalized_normal(k, 1.5, (9,)), decides=True),
    "geometric": drawn(lambda k: r.geometric(k, 0.2, (30,))),
    "gumbel": drawn(lambda k: r.gumbel(k, (30,))),
    "laplace": drawn(lambda k: (r.laplace(k, (30,)), r.logistic(k, (9,)))),
    "multivariate normal": drawn(
        lambda k, m, a: r.multivariate_normal(k, m, a @ a.T + jnp.eye(4), (3,), method="cholesky"),
        PLACES[:4],
        numbers(4, 4),
    ),
    "orthogonal": drawn(lambda k: jnp.abs(r.orthogonal(k, 5))),
    "pareto": drawn(lambda k, a: r.pareto(k, a), RATES),
    "permutation": drawn(lambda k: (r.permutation(k, 40), r.permutation(k, jnp.eye(5), axis=1))),
    "poisson": drawn(lambda k: r.poisson(k, RATES * 9), decides=True),
    "rademacher": drawn(lambda k: (r.rademacher(k, (30,)), r.randint(k, (30,), -9, 90))),
    "rayleigh": drawn(lambda k, a: (r.rayleigh(k, a), r.weibull_min(k, a, 2.0)), RATES),
    "student": drawn(lambda k, a: r.t(k, a), RATES, decides=True),
    "triangular": drawn(lambda k: r.triangular(k, -1.0, 0.5, 2.0, (30,))),
    "wald": drawn(lambda k, a: r.wald(k, a), RATES),
    "keys of each": drawn(lambda k: jax.vmap(lambda k: r.normal(k, (3,)))(r.split(k, 5))),
    "walk": drawn(
        lambda k: jax.lax.scan(
            lambda s, k: (s + r.normal(k, (4,)), r.uniform(k)), jnp.zeros(4), r.split(k, 9)
        )
    ),
    "hardware keys": program(
        lambda seed: (r.normal(r.key(seed, impl="rbg"), (20,)), r.bits(r.key(seed, impl="rbg"))),
        SEED,
        no_gradient=DRAWS,
    ),
    "pi by darts": drawn(lambda k: 4 * ((r.uniform(k, (5000, 2)) ** 2).sum(1) < 1).mean()),
    "price of an option": drawn(
        lambda k, start: jnp.maximum(
            start * jnp.exp(0.2 * r.normal(k, (2000, 1)) - 0.02) - 1, 0
        ).mean(0),
        between(0.5, 1.5, 6),
    ),
}
