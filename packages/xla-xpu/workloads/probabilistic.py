"""numpyro: densities of models, chains and variational fits.

Chains and fits compute in f64, where a rounding does not become another draw.
"""

import jax
import jax.numpy as jnp
import numpy as np
import numpyro
import numpyro.distributions as dist
from jax import lax
from numpyro.infer import HMC, MCMC, NUTS, SA, SVI, Predictive, Trace_ELBO, autoguide
from numpyro.infer.util import log_density

from .program import DRAWS, Program, between, numbers, program, whole

SEED = np.int32(1)
X = numbers(20, 3).astype(np.float64)
Y = X @ np.array([1.0, -0.5, 0.2]) + 0.1
LABELS = (Y > 0).astype(np.int32)
GROUPS = whole(4, 20)


def regression(x, y=None):
    w = numpyro.sample("w", dist.Normal(0, 1).expand([x.shape[1]]).to_event(1))
    spread = numpyro.sample("spread", dist.HalfNormal(1))
    with numpyro.plate("data", x.shape[0]):
        numpyro.sample("y", dist.Normal(x @ w, spread), obs=y)


def logistic(x, y=None):
    w = numpyro.sample("w", dist.Normal(jnp.zeros(x.shape[1]), 1).to_event(1))
    numpyro.sample("y", dist.Bernoulli(logits=x @ w), obs=y)


def hierarchical(group, y):
    middle = numpyro.sample("middle", dist.Normal(0, 1))
    spread = numpyro.sample("spread", dist.HalfCauchy(1))
    with numpyro.plate("groups", 4):
        effect = numpyro.sample("effect", dist.Normal(middle, spread))
    numpyro.sample("y", dist.StudentT(4, effect[group], 0.5), obs=y)


def mixture(y):
    weights = numpyro.sample("weights", dist.Dirichlet(jnp.ones(3)))
    places = numpyro.sample("places", dist.Normal(0, 2).expand([3]).to_event(1))
    parts = dist.Normal(places, 1)
    numpyro.sample(
        "y", dist.MixtureSameFamily(dist.Categorical(weights), parts).expand([20]), obs=y
    )


def density(model, values, *arguments):
    """Of values that are constrained as the model's are."""
    return program(
        lambda values, *arguments: log_density(model, arguments, {}, values)[0], values, *arguments
    )


def chain(kernel, *arguments, warmup=8, samples=6):
    def function(seed, *arguments):
        run = MCMC(kernel(), num_warmup=warmup, num_samples=samples, progress_bar=False)
        run.run(jax.random.key(seed), *arguments)
        return run.get_samples()

    return Program(function, (SEED, *arguments), DRAWS, ("values", "fp64"))


def fit(model, guide, *arguments, steps=6):
    def function(seed, *arguments):
        svi = SVI(model, guide(model), numpyro.optim.Adam(0.05), Trace_ELBO())
        state = svi.init(jax.random.key(seed), *arguments)

        def step(state, _):
            return svi.update(state, *arguments)

        state, losses = lax.scan(step, state, None, length=steps)
        return svi.get_params(state), losses

    return Program(function, (SEED, *arguments), DRAWS, ("values", "fp64"))


def predicted(seed, w, spread, x):
    samples = {"w": w, "spread": spread}
    return Predictive(regression, samples)(jax.random.key(seed), x)


def transported(x):
    """Through a flow and back."""
    parts = [
        dist.transforms.AffineTransform(0.5, 2.0),
        dist.transforms.SigmoidTransform(),
        dist.transforms.PowerTransform(2.0),
    ]
    flow = dist.TransformedDistribution(dist.Normal(0, 1).expand([20, 3]), parts)
    y = x
    for part in parts:
        y = part(y)
    return flow.log_prob(y), parts[0].inv(x)


WORKLOADS = {
    "density of a regression": density(
        regression, {"w": numbers(3), "spread": np.float32(0.7)}, X.astype("f4"), Y.astype("f4")
    ),
    "density of a hierarchy": density(
        hierarchical,
        {"middle": np.float32(0.1), "spread": np.float32(0.8), "effect": numbers(4)},
        GROUPS,
        Y.astype("f4"),
    ),
    "density of a mixture": density(
        mixture,
        {"weights": np.array([0.2, 0.5, 0.3], np.float32), "places": numbers(3)},
        Y.astype("f4"),
    ),
    "densities": program(
        lambda x, u: [
            dist.SoftLaplace(0.1, 1.0).log_prob(x),
            dist.AsymmetricLaplace(0.0, 1.0, 1.5).log_prob(x),
            dist.Kumaraswamy(2.0, 3.0).log_prob(u),
            dist.LKJCholesky(3, 1.5).log_prob(jnp.linalg.cholesky(jnp.eye(3) + 0.1)),
            dist.VonMises(0.2, 2.0).log_prob(x),
            dist.ZeroInflatedPoisson(u, 2.0).log_prob(3),
            dist.BetaBinomial(2.0, 3.0, 10).log_prob(4) + x,
        ],
        numbers(20),
        between(0.05, 0.95, 20),
    ),
    "flow": program(transported, numbers(20, 3)),
    "nuts": chain(lambda: NUTS(regression), X, Y),
    "nuts of classes": chain(lambda: NUTS(logistic, max_tree_depth=4), X, LABELS),
    "nuts with a dense mass": chain(
        lambda: NUTS(regression, dense_mass=True, max_tree_depth=4), X, Y
    ),
    "hmc": chain(lambda: HMC(hierarchical, trajectory_length=None, num_steps=5), GROUPS, Y),
    "sample adaptive chain": chain(lambda: SA(regression), X, Y),
    "normal guide": fit(regression, autoguide.AutoNormal, X, Y),
    "guide of full rank": fit(regression, autoguide.AutoMultivariateNormal, X, Y),
    "largest posterior": fit(mixture, autoguide.AutoDelta, Y),
    "predictive": program(
        predicted, SEED, numbers(5, 3), between(0.5, 1, 5), X.astype("f4"), no_gradient=DRAWS
    ),
}
