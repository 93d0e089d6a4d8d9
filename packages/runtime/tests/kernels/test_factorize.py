"""Triangular systems, Cholesky and LU factorisations beside numpy: layouts, batches, blocks, failures."""

import numpy as np
import pytest
from layouts import LAYOUTS, NUMPY, Placed
from xpu_testing import assert_repeatable, values_checked

import xpu_runtime as xr

pytestmark = pytest.mark.usefixtures("device")

DTYPES = (
    "f32",
    "c64",
    pytest.param("f64", marks=pytest.mark.fp64),
    pytest.param("c128", marks=pytest.mark.fp64),
)
# Within a block, at its edge, over several.
SIZES = (1, 2, 31, 32, 33, 64, 65, 150)


def numbers(rng, shape, dtype):
    x = rng.standard_normal(shape)
    if dtype in ("c64", "c128"):
        x = x + 1j * rng.standard_normal(shape)
    return x.astype(NUMPY[dtype])


def close(got, expected, dtype, scale=1.0):
    if values_checked():
        unit = np.finfo(NUMPY[dtype]).eps
        error = np.abs(got - expected).max() / (np.abs(expected).max() or 1) if expected.size else 0
        assert error < 200 * scale * unit, error


def definite(rng, batch, n, dtype):
    x = numbers(rng, (batch, n, n), dtype)
    return x @ x.conj().swapaxes(1, 2) + n * np.eye(n, dtype=x.dtype)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("n", SIZES)
def test_cholesky(rng, dtype, n):
    a = definite(rng, 2, n, dtype)
    place, info = Placed(a.shape, dtype, values=a), Placed((2,), "i32", values=np.zeros(2))
    xr.kernels.factorize_cholesky(place.array, info.array)
    lower = np.tril(place.result())
    close(lower @ lower.conj().swapaxes(1, 2), a, dtype, n**0.5)
    assert not values_checked() or not info.result().any()


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("conjugate", [False, True])
@pytest.mark.parametrize("unit", [False, True])
@pytest.mark.parametrize("upper", [False, True])
def test_solve_triangle_in_layouts(rng, upper, unit, conjugate, layout):
    n, dtype = 70, "c64"
    full = numbers(rng, (3, n, n), dtype) / n + 2 * np.eye(n, dtype=NUMPY[dtype])
    x = numbers(rng, (3, n, 5), dtype)
    a, b = Placed(full.shape, dtype, layout, full), Placed(x.shape, dtype, layout, x)
    xr.kernels.solve_triangle(a.array, b.array, upper=upper, unit=unit, conjugate=conjugate)
    meant = np.triu(full) if upper else np.tril(full)
    if unit:
        meant[:, range(n), range(n)] = 1
    if conjugate:
        meant = meant.conj()
    close(meant @ b.result(), x, dtype, n)


@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize(
    ("rows", "columns"), [(1, 1), (5, 3), (3, 5), (33, 33), (70, 90), (150, 60)]
)
def test_lu(rng, dtype, rows, columns):
    a = numbers(rng, (2, rows, columns), dtype)
    steps = min(rows, columns)
    place = Placed(a.shape, dtype, values=a)
    pivots = Placed((2, steps), "i32", values=np.zeros((2, steps)))
    info = Placed((2,), "i32", values=np.zeros(2))
    order = Placed((2, rows), "i32", values=np.zeros((2, rows)))
    xr.kernels.factorize_lu(place.array, pivots.array, info.array)
    xr.kernels.pivots_to_permutation(order.array, pivots.array)
    if not values_checked():
        return
    got = place.result()
    lower, upper = np.tril(got[:, :, :steps], -1), np.triu(got[:, :steps])
    lower[:, range(steps), range(steps)] = 1
    expected = np.take_along_axis(a, order.result()[:, :, None].astype(np.int64), 1)
    close(lower @ upper, expected, dtype, rows**0.5)
    assert np.abs(lower).max() <= 1.5  # LAPACK's measure of complex numbers is not their magnitude


def test_what_is_not_positive_definite_is_noted_and_spoilt(rng):
    a = definite(rng, 3, 40, "f32")
    a[1, 35, 35] = -1
    place, info = Placed(a.shape, "f32", values=a), Placed((3,), "i32", values=np.zeros(3))
    xr.kernels.factorize_cholesky(place.array, info.array)
    xr.kernels.fill_failed_with_nan(place.array, info.array)
    if values_checked():
        assert info.result().tolist() == [0, 36, 0]
        assert np.isnan(place.result()).all((1, 2)).tolist() == [False, True, False]


def test_swaps_go_back(rng):
    x = numbers(rng, (2, 6, 3), "f32")
    pivots = Placed((2, 4), "i32", values=[[6, 2, 5, 4], [1, 1, 3, 6]])
    place = Placed(x.shape, "f32", values=x)
    xr.kernels.swap_rows(place.array, pivots.array)
    xr.kernels.swap_rows(place.array, pivots.array, back=True)
    if values_checked():
        np.testing.assert_array_equal(place.result(), x)


def test_repeats_bit_for_bit(rng):
    a = definite(rng, 1, 100, "f32")

    def factor():
        place, info = Placed(a.shape, "f32", values=a), Placed((1,), "i32", values=np.zeros(1))
        xr.kernels.factorize_cholesky(place.array, info.array)
        return place.result()

    assert_repeatable(factor)


@pytest.mark.parametrize(
    ("a", "x", "message"),
    [((2, 3, 3), (2, 4, 1), "for unknowns"), ((3, 3), (1, 3, 1), "expected a batch of matrices")],
)
def test_misuse(rng, a, x, message):
    a, x = Placed(a, "f32", values=np.ones(a)), Placed(x, "f32", values=np.ones(x))
    with pytest.raises(xr.UsageError, match=message):
        xr.kernels.solve_triangle(a.array, x.array)
