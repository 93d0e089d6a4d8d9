"""Factors of matrices and what is solved with them."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
from jax.scipy.sparse.linalg import bicgstab, cg, gmres

from .program import WHOLE, numbers, program

A = numbers(8, 8)
TALL = numbers(12, 5)
B = numbers(8, 3, seed=1)
DEFINITE = A @ A.T / 8 + np.eye(8, dtype=np.float32)
REGULAR = A / 8 + 2 * np.eye(8, dtype=np.float32)
SPREAD = np.diag(np.arange(1, 9, dtype=np.float32)) + A * np.float32(0.1)


def rebuilt(vectors, values):
    """What does not depend on the signs of the vectors."""
    return (vectors * values[None]) @ vectors.T


def of_singular_vectors(x):
    u, s, v = jnp.linalg.svd(x, full_matrices=False)
    return s, (u * jnp.sin(s)) @ v


def gaussian_process(x, y, at):
    def kernel(a, b):
        return jnp.exp(-((a[:, None] - b[None]) ** 2))

    factor = jsl.cho_factor(kernel(x, x) + 0.1 * jnp.eye(x.size), lower=True)
    towards = kernel(at, x)
    mean = towards @ jsl.cho_solve(factor, y)
    spread = kernel(at, at) - towards @ jsl.cho_solve(factor, towards.T)
    evidence = -0.5 * y @ jsl.cho_solve(factor, y) - jnp.log(jnp.diag(factor[0])).sum()
    return mean, jnp.diag(spread), evidence


def principal_parts(x):
    x = x - x.mean(0)
    values, vectors = jnp.linalg.eigh(x.T @ x / len(x))
    return values, jnp.abs(x @ vectors[:, -2:])


def power_iteration(x):
    v = jax.lax.fori_loop(
        0, 20, lambda _, v: (w := x.T @ (x @ v)) / jnp.linalg.norm(w), jnp.ones(x.shape[1])
    )
    return jnp.linalg.norm(x @ v)


WORKLOADS = {
    "solve": program(jnp.linalg.solve, REGULAR, B),
    "cholesky solve": program(
        lambda a, b: jsl.cho_solve(jsl.cho_factor(a @ a.T + jnp.eye(8)), b), A, B
    ),
    "lu solve": program(lambda a, b: jsl.lu_solve(jsl.lu_factor(a), b), REGULAR, B),
    "triangular solve": program(
        lambda a, b: jsl.solve_triangular(a, b, trans=1, lower=True), REGULAR, B
    ),
    "inverse": program(jnp.linalg.inv, REGULAR),
    "determinants": program(lambda a: (jnp.linalg.det(a), jnp.linalg.slogdet(a)[1]), REGULAR),
    "eigh": program(lambda a: rebuilt(*jnp.linalg.eigh(a + a.T)[::-1]), SPREAD),
    "svd": program(of_singular_vectors, TALL),
    "qr": program(lambda a: [x @ x.T for x in jnp.linalg.qr(a)], TALL),
    "eig": program(
        lambda a: jnp.sort(jnp.linalg.eigvals(a).real),
        SPREAD,
        no_gradient="the order of general eigenvalues is free",
    ),
    "schur": program(
        lambda a: (lambda t, z: z @ t @ z.T)(*jsl.schur(a)), A, no_gradient="JAX has none"
    ),
    "hessenberg": program(
        lambda a: (lambda h, q: q @ h @ q.T)(*jsl.hessenberg(a, calc_q=True)),
        A,
        no_gradient="JAX has none",
    ),
    "pseudo-inverse": program(jnp.linalg.pinv, TALL),
    "least squares": program(lambda a, b: jnp.linalg.lstsq(a, b)[0], TALL, TALL[:, :2] + 1),
    "rank": program(lambda a: jnp.linalg.matrix_rank(a @ a.T), TALL, no_gradient=WHOLE),
    "norms": program(
        lambda a: [jnp.linalg.norm(a, o) for o in (None, 1, -1, jnp.inf, 2, "nuc")], TALL
    ),
    "condition": program(jnp.linalg.cond, REGULAR),
    "exponential": program(jsl.expm, A * np.float32(0.2)),
    "square root": program(lambda a: jsl.sqrtm(a).real, DEFINITE, no_gradient="JAX has none"),
    "powers": program(
        lambda a: (jnp.linalg.matrix_power(a, 5), jnp.linalg.matrix_power(a, -2)), REGULAR
    ),
    "chain of products": program(
        lambda *x: jnp.linalg.multi_dot(x), TALL, numbers(5, 9), numbers(9, 2)
    ),
    "structured": program(
        lambda v, a: (jsl.toeplitz(v), jsl.block_diag(a, v[None]), jsl.hilbert(4)), A[0], TALL
    ),
    "batches": program(
        lambda a, b: jax.vmap(jnp.linalg.solve)(a @ a.mT + 3 * jnp.eye(4), b),
        numbers(6, 4, 4),
        numbers(6, 4),
    ),
    "polynomial fit": program(lambda x, y: jnp.polyfit(x, y, 3), TALL[:, 0], TALL[:, 1]),
    "gaussian process": program(gaussian_process, A[0], A[1], B[:, 0]),
    "principal parts": program(
        principal_parts, TALL, no_gradient="absolute values of vectors of free sign"
    ),
    "power iteration": program(power_iteration, TALL),
    "conjugate gradients": program(
        lambda a, b: cg(a @ a.T / 8 + jnp.eye(8), b, tol=1e-6)[0], A, B, marks="values"
    ),
    "gmres": program(lambda a, b: gmres(a, b[:, 0], tol=1e-6)[0], REGULAR, B, marks="values"),
    "bicgstab": program(lambda a, b: bicgstab(a, b[:, 0], tol=1e-6)[0], REGULAR, B, marks="values"),
    "tridiagonal": program(
        lambda d, b: jax.lax.linalg.tridiagonal_solve(jnp.roll(d, 1), d + 5, d, b), A[0], B
    ),
    "procrustes": program(
        lambda a, b: (lambda u, _, v: u @ v)(*jnp.linalg.svd(a.T @ b)), TALL, TALL[:, ::-1] + 0.1
    ),
    "complex": program(lambda a, b: jnp.linalg.solve(a + 1j * a.T, b + 0j), REGULAR, B),
    "whitened": program(
        lambda x: jsl.solve_triangular(
            jnp.linalg.cholesky(jnp.cov(x.T) + 0.01 * jnp.eye(5)), x.T, lower=True
        ),
        TALL,
    ),
}
