"""jaxopt and jax.scipy.optimize: minima, fixed points and roots, and how they depend on what is given."""

import warnings

import jax
import jax.numpy as jnp
import jax.scipy.optimize
import numpy as np

from .program import TRAINS, numbers, program

with warnings.catch_warnings():
    warnings.simplefilter("ignore", DeprecationWarning)  # it has had its last release
    import jaxopt

A = numbers(20, 4)
B = A @ np.array([1, -2, 0, 0.5], np.float32) + numbers(20, seed=1) * np.float32(0.1)
START = np.zeros(4, np.float32)


def squares(w, a, b):
    return ((a @ w - b) ** 2).mean()


def ridge(w, penalty, a, b):
    return squares(w, a, b) + penalty * (w**2).sum()


def minimum(kind, **options):
    """What is found, without its slope."""
    return program(
        lambda w, a, b: kind(squares, **options).run(w, a=a, b=b).params,
        START,
        A,
        B,
        no_gradient=TRAINS,
        marks="values",
    )


def found(run, *arguments, wavers=False):
    """What is found, and by the implicit function how it depends on what is given."""
    return program(run, *arguments, marks="values", wavers=wavers)


def lasso(penalty, a, b):
    solver = jaxopt.ProximalGradient(
        jaxopt.objective.least_squares, jaxopt.prox.prox_lasso, maxiter=100, tol=1e-5
    )
    return solver.run(START, penalty, data=(a, b)).params


def on_the_simplex(a, b):
    solver = jaxopt.ProjectedGradient(squares, jaxopt.projection.projection_simplex, maxiter=50)
    return solver.run(jnp.full(4, 0.25), a=a, b=b).params


def fixed(x):
    solver = jaxopt.FixedPointIteration(lambda y, x: jnp.cos(y) * x, maxiter=100, tol=1e-6)
    return solver.run(jnp.zeros_like(x), x).params


def accelerated(x):
    solver = jaxopt.AndersonAcceleration(lambda y, x: jnp.cos(y) * x, maxiter=30, tol=1e-6)
    return solver.run(jnp.zeros_like(x), x).params


def cube_root(x):
    solver = jaxopt.Bisection(
        lambda y, x: y**3 - x, 0.0, 3.0, maxiter=40, tol=1e-7, check_bracket=False
    )
    return solver.run(None, x).params


def quadratic_program(q, c):
    solver = jaxopt.BoxOSQP(maxiter=200, tol=1e-4)
    q = q.T @ q + jnp.eye(4)
    return solver.run(None, (q, c), jnp.eye(4), (-jnp.ones(4), jnp.ones(4))).params.primal[0]


WORKLOADS = {
    "gradient descent": minimum(jaxopt.GradientDescent, maxiter=20),
    "lbfgs": minimum(jaxopt.LBFGS, maxiter=10),
    "nonlinear conjugate gradients": minimum(jaxopt.NonlinearCG, maxiter=10),
    "bfgs of scipy": program(
        lambda w, a, b: jax.scipy.optimize.minimize(squares, w, (a, b), method="BFGS").x,
        START,
        A,
        B,
        no_gradient=TRAINS,
        marks="values",
    ),
    "ridge": found(
        lambda p, a, b: jaxopt.LBFGS(ridge, maxiter=30, tol=1e-5).run(START, p, a, b).params,
        np.float32(0.1),
        A,
        B,
    ),
    "gauss-newton": program(
        lambda w, a, b: jaxopt.GaussNewton(lambda w: jnp.tanh(a @ w) - b, maxiter=3).run(w).params,
        START,
        A,
        np.tanh(B),
        no_gradient=TRAINS,
        marks="values",
    ),
    "levenberg-marquardt": program(
        lambda w, a, b: jaxopt.LevenbergMarquardt(lambda w: a @ w - b, maxiter=4).run(w).params,
        START,
        A,
        B,
        no_gradient=TRAINS,
        marks="values",
    ),
    "lasso": found(lasso, np.float32(0.05), A, B),
    "on the simplex": found(on_the_simplex, A, B, wavers=True),
    "fixed point": found(fixed, np.array([0.3, 0.5, 0.7], np.float32)),
    "anderson": found(accelerated, np.array([0.3, 0.5, 0.7], np.float32)),
    "bisection": found(cube_root, np.float32(2)),
    "quadratic program": found(quadratic_program, A[:4], B[:4]),
}
