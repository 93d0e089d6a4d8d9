"""jnp.linalg and jax.scipy.linalg beside JAX's CPU; where signs are free, what the factors make."""

import jax
import jax.numpy as jnp
import jax.scipy.linalg as jsl
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu

import xla_xpu

DTYPES = ("float32", "complex64")


def numbers(shape, dtype="float32", seed=0):
    rng = np.random.default_rng(seed)
    x = rng.standard_normal(shape)
    if dtype.startswith("complex"):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(dtype)


def definite(shape, dtype="float32"):
    x = numbers(shape, dtype)
    return x @ x.conj().swapaxes(-1, -2) / shape[-1] + np.eye(shape[-1], dtype=dtype)


def regular(shape, dtype="float32"):
    return numbers(shape, dtype) / shape[-1] + 2 * np.eye(shape[-1], dtype=dtype)


def adjoint(x):
    return jnp.conj(jnp.swapaxes(x, -1, -2))


def made_of_eigh(x):
    x = x + adjoint(x)
    values, vectors = jnp.linalg.eigh(x)
    return values, (vectors * values[..., None, :]) @ adjoint(vectors)


def made_of_svd(x):
    u, s, vh = jnp.linalg.svd(x, full_matrices=False)
    return s, (u * s[..., None, :]) @ vh


def made_of_qr(x):
    q, r = jnp.linalg.qr(x)
    return q @ r, adjoint(q) @ q


def made_of_eig(x):
    values, vectors = jnp.linalg.eig(x)
    return jnp.sort(jnp.abs(values)), (vectors * values) @ jnp.linalg.inv(vectors)


def made_of_schur(x):
    t, z = jsl.schur(x)
    return z @ t @ adjoint(z), jnp.triu(t, -1) - t


def made_of_hessenberg(x):
    h, q = jsl.hessenberg(x, calc_q=True)
    return q @ h @ adjoint(q)


def made_of_pivoted_qr(x):
    q, r, p = jsl.qr(x, pivoting=True, mode="economic")
    return q @ r, p


def made_of_lu(x):
    p, lower, upper = jsl.lu(x)
    return p @ lower @ upper, p


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "function",
    [
        jnp.linalg.det,
        jnp.linalg.inv,
        jnp.linalg.slogdet,
        made_of_eigh,
        made_of_qr,
        made_of_svd,
        jnp.linalg.cond,
        jnp.linalg.pinv,
        lambda x: jnp.linalg.solve(x, x[..., :2] + 1),
        lambda x: jnp.linalg.matrix_power(x, -3),
        jnp.linalg.matrix_rank,
        lambda x: jnp.linalg.norm(x, "nuc", axis=(-2, -1)),
    ],
)
@pytest.mark.parametrize("shape", [(5, 5), (2, 3, 40, 40)])
def test_of_square_matrices(function, shape, dtype):
    compare_with_cpu(function, regular(shape, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [made_of_eig, made_of_lu, made_of_schur, made_of_hessenberg])
def test_of_one_square_matrix(function, dtype):
    compare_with_cpu(function, regular((12, 12), dtype))


@pytest.mark.values  # the data say how often it loops
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("function", [jsl.expm, jsl.sqrtm])
def test_functions_of_a_matrix(function, dtype):
    compare_with_cpu(function, regular((12, 12), dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    "function", [made_of_lu, made_of_qr, made_of_svd, made_of_pivoted_qr, jnp.linalg.pinv]
)
@pytest.mark.parametrize("shape", [(9, 4), (4, 9)])
def test_of_matrices_that_are_not_square(function, shape, dtype):
    compare_with_cpu(function, numbers(shape, dtype))


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("upper", [False, True])
@pytest.mark.parametrize("shape", [(1, 1), (3, 7, 7), (2, 100, 100), (2, 0, 0)])
def test_cholesky(shape, upper, dtype):
    compare_with_cpu(lambda x: jnp.linalg.cholesky(x, upper=upper), definite(shape, dtype))


def test_cholesky_of_what_has_none():
    x = definite((2, 40, 40))
    x[1, 30, 30] = -5
    compare_with_cpu(jnp.linalg.cholesky, x)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("trans", [0, 1, 2])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("lower", [False, True])
@pytest.mark.parametrize("n", [3, 90])
def test_solve_triangular(n, lower, unit, trans, dtype):
    def solve(a, b):
        return jsl.solve_triangular(a, b, trans=trans, lower=lower, unit_diagonal=unit)

    compare_with_cpu(solve, regular((n, n), dtype), numbers((n, 4), dtype, 1))


@pytest.mark.parametrize("left", [False, True])
@pytest.mark.parametrize("transpose", [False, True])
@pytest.mark.parametrize("conjugate", [False, True])
def test_triangular_solve_of_batches(left, transpose, conjugate):
    def solve(a, b):
        given = {"left_side": left, "transpose_a": transpose, "conjugate_a": conjugate}
        return jax.lax.linalg.triangular_solve(a, b, **given)

    b = numbers((3, 6, 2) if left else (3, 2, 6), "complex64", 1)
    compare_with_cpu(solve, regular((3, 6, 6), "complex64"), b)


@pytest.mark.parametrize("dtype", ["float16", "bfloat16"])
def test_narrow_floats(dtype):
    def solve(a, b):
        a, b = a.astype(dtype), b.astype(dtype)
        return jax.lax.linalg.triangular_solve(a, b, left_side=True, lower=True)

    compare_with_cpu(solve, regular((4, 4)), numbers((4, 2)))


@pytest.mark.parametrize("shape", [(1, 1), (3, 5), (5, 3), (2, 70, 50), (2, 0, 3)])
def test_lu(shape):
    compare_with_cpu(jax.lax.linalg.lu, numbers(shape))


@pytest.mark.parametrize(
    "function",
    [
        lambda x: jnp.linalg.cholesky(x @ x.T + jnp.eye(8)).sum(),
        lambda x: jnp.linalg.slogdet(x)[1],
        lambda x: jnp.linalg.inv(x).sum(),
        lambda x: (jnp.linalg.eigh(x + x.T)[0] ** 3).sum(),
        lambda x: jnp.linalg.svd(x, compute_uv=False).sum(),
        lambda x: (jnp.linalg.qr(x)[1] ** 2).sum(),
        lambda x: jsl.expm(x).sum(),
    ],
)
def test_gradients(function):
    compare_with_cpu(jax.grad(function), regular((8, 8)))


def test_least_squares():
    compare_with_cpu(
        lambda a, b: jnp.linalg.lstsq(a, b)[0], numbers((9, 4)), numbers((9, 2), seed=1)
    )


def test_tridiagonal_systems():
    d = np.full(9, 4, np.float32)
    compare_with_cpu(
        jax.lax.linalg.tridiagonal_solve, numbers(9), d, numbers(9, seed=1), numbers((9, 2))
    )


def test_cholesky_update():
    def update(x):
        upper = jnp.linalg.cholesky(x, upper=True)
        return jax.lax.linalg.cholesky_update(upper, x[0])

    compare_with_cpu(update, definite((5, 5)))


def test_inside_a_loop():
    def function(x):
        def body(_, x):
            return jnp.linalg.svd(x, compute_uv=False)[:, None] * jnp.linalg.inv(x)

        return jax.lax.fori_loop(0, 3, body, x)

    compare_with_cpu(function, regular((6, 6)))


def test_polar_decomposition_by_halley_iterations(xpu):
    """As JAX's own test calls it; the iterations combine transposed matrices with numbers."""
    from jax._src.tpu.linalg import qdwh

    x = numbers((20, 20))
    unitary, hermitian, _, has_converged = qdwh.qdwh(jax.device_put(x, xpu))
    assert has_converged
    np.testing.assert_allclose(unitary @ hermitian, x, atol=1e-4)
    np.testing.assert_allclose(unitary.T @ unitary, np.eye(20), atol=1e-4)


def test_what_runs_on_the_host_is_counted(xpu):
    x = jax.device_put(regular((4, 4)), xpu)
    before = xla_xpu.host_calls()
    jax.block_until_ready((jnp.linalg.cholesky(x @ x.T), jnp.linalg.inv(x)))
    assert xla_xpu.host_calls() == before
    jax.block_until_ready(jnp.linalg.eigh(x)[0])
    name = "lapack eigh (host)"
    assert xla_xpu.host_calls()[name] == before.get(name, 0) + 1


def test_saved_programs_call_the_host_too(xpu):
    from jax.experimental import serialize_executable

    x = jax.device_put(regular((4, 4)), xpu)
    program = jax.jit(lambda x: jnp.linalg.svd(x)[1]).lower(x).compile()
    again = serialize_executable.deserialize_and_load(*serialize_executable.serialize(program))
    np.testing.assert_array_equal(again(x), program(x))


@pytest.mark.values  # SciPy refuses row pointers that are no such
def test_sparse_systems():
    from jax.experimental.sparse.linalg import spsolve

    def solve(data, b):
        return spsolve(data, np.array([0, 1, 1, 2]), np.array([0, 2, 3, 4]), b)

    compare_with_cpu(solve, np.array([4, 1, 3, 2], np.float32), np.array([1, 2, 3], np.float32))
