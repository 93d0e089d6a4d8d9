"""jax.scipy: special functions, densities, and the smaller parts."""

import jax.numpy as jnp
import jax.scipy as sp
import numpy as np
from jax.scipy import special, stats
from jax.scipy.interpolate import RegularGridInterpolator
from jax.scipy.spatial.transform import Rotation

from .program import between, numbers, program

X = numbers(40)
UP = between(0.3, 6, 40)
UP2 = between(0.3, 6, 40, seed=1)
UNIT = between(0.02, 0.98, 40)
COUNTS = np.arange(40, dtype=np.float32) // 4

WORKLOADS = {
    "gamma": program(lambda x: (special.gamma(x), special.gammaln(x), special.factorial(x)), UP),
    "digamma": program(lambda x: (special.digamma(x), special.polygamma(2, x)), UP),
    "zeta": program(lambda x, q: special.zeta(x + 1.1, q), UP, UP2, no_gradient="JAX has none"),
    "beta": program(lambda a, b: (special.beta(a, b), special.betaln(a, b)), UP, UP2),
    "incomplete gamma": program(
        lambda a, x: (special.gammainc(a, x), special.gammaincc(a, x)),
        UP,
        UP2,
        marks="values",
    ),
    "incomplete beta": program(lambda x: special.betainc(UP, UP2, x), UNIT, marks="values"),
    "error functions": program(
        lambda x, u: (special.erf(x), special.erfc(x), special.erfinv(u)), X, UNIT
    ),
    "normal distribution": program(
        lambda x, u: (special.ndtr(x), special.log_ndtr(x * 4), special.ndtri(u)), X, UNIT
    ),
    "bessel": program(lambda x: (special.i0(x), special.i1(x), special.i0e(x), special.i1e(x)), X),
    "exponential integrals": program(
        lambda x: (special.expi(x), special.exp1(x), special.expn(2, x)), UP, marks="values"
    ),
    "entropies": program(
        lambda p, q: (special.entr(p), special.rel_entr(p, q), special.kl_div(p, q)), UNIT, UP
    ),
    "odds": program(
        lambda u, x: (special.logit(u), special.expit(x), special.xlogy(x, u)), UNIT, X
    ),
    "sine integrals": program(lambda x: special.fresnel(x), X),
    "dilogarithm": program(special.spence, UP, no_gradient="JAX has none"),
    "bernoulli numbers": program(lambda x: special.bernoulli(8) * x[0], X),
    "hypergeometric": program(
        lambda a, b, x: special.hyp1f1(a, b, x), UP[:8], UP2[:8], X[:8], marks="values"
    ),
    "normal density": program(
        lambda x, s: (stats.norm.logpdf(x, 0.5, s), stats.norm.cdf(x, 0.5, s)), X, UP
    ),
    "densities of the whole line": program(
        lambda x, s: [
            stats.t.logpdf(x, s),
            stats.cauchy.logpdf(x),
            stats.laplace.logpdf(x, 0.1, s),
            stats.logistic.logpdf(x),
            stats.gennorm.logpdf(x, s),
        ],
        X,
        UP,
    ),
    "densities of half the line": program(
        lambda x, a: [
            stats.gamma.logpdf(x, a),
            stats.expon.logpdf(x),
            stats.chi2.logpdf(x, a),
            stats.pareto.logpdf(x + 1, a),
        ],
        UP,
        UP2,
    ),
    "densities of an interval": program(
        lambda x, a: (stats.beta.logpdf(x, a, 2.0), stats.truncnorm.logpdf(x, -1.0, a)), UNIT, UP
    ),
    "masses": program(
        lambda k, p, r: [
            stats.poisson.logpmf(k, r),
            stats.binom.logpmf(k, 12, p),
            stats.nbinom.logpmf(k, 3, p),
            stats.geom.logpmf(k + 1, p),
            stats.betabinom.logpmf(k, 12, r, 2.0),
        ],
        COUNTS,
        UNIT,
        UP,
    ),
    "dirichlet density": program(
        lambda x, a: stats.dirichlet.logpdf(x / x.sum(), a), UNIT[:6], UP[:6]
    ),
    "multivariate density": program(
        lambda x, m, a: stats.multivariate_normal.logpdf(x, m, a @ a.T + jnp.eye(4)),
        X.reshape(10, 4),
        X[:4],
        numbers(4, 4),
    ),
    "kernel density": program(lambda data, at: stats.gaussian_kde(data).evaluate(at), X, UP[:9]),
    "ranks": program(lambda x: stats.rankdata(x), X, no_gradient="they are steps"),
    "interpolated on a grid": program(
        lambda values, at: RegularGridInterpolator(
            (jnp.arange(5.0), jnp.arange(8.0)), values, "linear"
        )(at),
        X.reshape(5, 8),
        between(0, 4, 9, 2),
    ),
    "rotations": program(
        lambda r, v: (Rotation.from_rotvec(r) * Rotation.from_rotvec(r + 0.1)).apply(v),
        X[:3],
        X[3:6],
    ),
    "quantized by nearest codes": program(
        lambda x, codes: sp.cluster.vq.vq(x, codes)[1], X.reshape(10, 4), X[:8].reshape(2, 4) + 0.5
    ),
    "integrated": program(lambda y, x: sp.integrate.trapezoid(y, jnp.cumsum(x)), X, UP),
}
