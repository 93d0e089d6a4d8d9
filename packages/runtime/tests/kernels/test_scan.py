"""Scans: every dtype, direction and layout, long lines in blocks, NaN and repeatability."""

import numpy as np
import pytest
from layouts import FLOATS, INTEGERS, LAYOUTS, NUMPY, Placed
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")

# (shape, dim): lines of one element, shorter and longer than a sub-group, in blocks, many, few, with and
# without elements between those of a line.
LINES = [
    ((), 0),
    ((0,), 0),
    ((1,), 0),
    ((15,), 0),
    ((33,), -1),
    ((5000,), 0),
    ((300_001,), 0),
    ((3, 0, 4), 1),
    ((0, 7), 1),
    ((700, 5), 1),
    ((700, 5), 0),
    ((7, 130), 1),
    ((130, 67), 0),
    ((2, 100_000), 1),
    ((20_000, 3), 0),
    ((6, 50, 40), 1),
    ((5000, 17), 1),
]
OPS = {"cumsum": np.cumsum, "cumprod": np.cumprod}


def reference(op, x, dim, exclusive=False, reverse=False, identity=0):
    if x.ndim == 0:
        return np.full((), identity, x.dtype) if exclusive else x.copy()
    y = np.flip(x, dim) if reverse else x
    y = op(y, axis=dim, dtype=x.dtype)
    if exclusive:
        y = np.roll(y, 1, dim)
        first = [slice(None)] * x.ndim
        first[dim] = slice(0, 1)
        y[tuple(first)] = identity
    return np.flip(y, dim) if reverse else y


@pytest.mark.parametrize(("shape", "dim"), LINES, ids=str)
@pytest.mark.parametrize("exclusive", [False, True])
@pytest.mark.parametrize("reverse", [False, True])
def test_sums(xr, rng, shape, dim, exclusive, reverse):
    x = Placed(shape, "i64", values=rng.integers(-(2**40), 2**40, shape))
    out = Placed(shape, "i64")
    xr.kernels.cumsum(out.array, x.array, dim, exclusive=exclusive, reverse=reverse)
    assert_close(out.result(), reference(np.cumsum, x.host, dim, exclusive, reverse))


@pytest.mark.parametrize("op", OPS)
@pytest.mark.parametrize("dtype", INTEGERS)
def test_integers_wrap(xr, rng, op, dtype):
    shape = (9, 1000)
    x = Placed(shape, dtype, values=rng.integers(0, 127, shape) | 1)
    for dim in (0, 1):
        out = Placed(shape, dtype)
        getattr(xr.kernels, op)(out.array, x.array, dim)
        assert_close(out.result(), reference(OPS[op], x.host, dim))


@pytest.mark.parametrize("dtype", ["c64", "c128"])
@pytest.mark.parametrize(("shape", "dim"), [((3, 3000), 1), ((300, 20), 0), ((5,), 0)], ids=str)
def test_complex_numbers(xr, rng, dtype, shape, dim):
    values = rng.uniform(0.9, 1.1, shape) * np.exp(1j * rng.uniform(-1, 1, shape))
    x = Placed(shape, dtype, values=values)
    bound = 1e-3 if dtype == "c64" else 1e-10
    for op, expected in (
        ("cumsum", np.cumsum(x.host, dim)),
        ("cumprod", np.cumprod(x.host, dim)),
        ("logcumsumexp", np.log(np.cumsum(np.exp(x.host), dim))),
    ):
        out = Placed(shape, dtype)
        getattr(xr.kernels, op)(out.array, x.array, dim)
        got = out.result()
        if op == "logcumsumexp":  # angles come to within a whole turn
            got, expected = np.exp(got) / 1e3, np.exp(expected) / 1e3
        assert_close(got, expected, rtol=bound, atol=bound * np.abs(expected).max())


@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(
    ("shape", "dim"), [((3, 3000), 1), ((300, 20), 0), ((90_000,), 0)], ids=str
)
def test_floats(xr, rng, dtype, shape, dim):
    x = Placed(shape, dtype, values=rng.standard_normal(shape))
    out = Placed(shape, dtype)
    xr.kernels.cumsum(out.array, x.array, dim)
    exact = np.cumsum(x.host.astype(np.float64), axis=dim)
    unit = {"f16": 2.0**-11, "bf16": 2.0**-8, "f32": 2.0**-23, "f64": 2.0**-52}[dtype]
    scale = np.cumsum(np.abs(x.host.astype(np.float64)), axis=dim).max()
    rounded = unit if dtype in ("f16", "bf16") else 0.0
    assert_close(out.result().astype(np.float64), exact, rounded, scale * min(unit, 2.0**-20))


@pytest.mark.parametrize("source", ["bool", "u8", "i32", "f16", "bf16"])
@pytest.mark.parametrize("target", ["i64", "f32"])
def test_conversion(xr, rng, source, target):
    x = Placed((2, 999), source, values=rng.integers(0, 2, (2, 999)))
    out = Placed((2, 999), target)
    xr.kernels.cumsum(out.array, x.array, 1)
    assert_close(out.result(), np.cumsum(x.host.astype(np.int64), axis=1).astype(NUMPY[target]))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_layouts(xr, rng, layout, target):
    x = Placed((7, 50, 6), "i32", layout, rng.integers(-9, 9, (7, 50, 6)))
    out = Placed((7, 50, 6), "i32", target)
    xr.kernels.cumsum(out.array, x.array, 1)
    assert_close(out.result(), np.cumsum(x.host, axis=1, dtype=np.int32))


def test_in_place(xr, rng):
    for shape, dim in (((70_000,), 0), ((50, 60), 0)):
        x = Placed(shape, "i32", values=rng.integers(-9, 9, shape))
        expected = np.cumsum(x.host, axis=dim, dtype=np.int32)
        xr.kernels.cumsum(x.array, x.array, dim)
        assert_close(x.result(), expected)


def running_extreme(x, dim, largest):
    """PyTorch's rule: a NaN stays, and the last one of equals gives the position."""
    values, indices = x.copy(), np.zeros(x.shape, np.int64)
    moved, places = np.moveaxis(values, dim, 0), np.moveaxis(indices, dim, 0)
    for i in range(1, len(moved)):
        before = moved[i - 1]
        with np.errstate(invalid="ignore"):
            better = moved[i] >= before if largest else moved[i] <= before
        take = np.isnan(moved[i]) | (~np.isnan(before) & better)
        places[i] = np.where(take, i, places[i - 1])
        moved[i] = np.where(take, moved[i], before)
    return values, indices


@pytest.mark.parametrize("op", ["cummax", "cummin"])
@pytest.mark.parametrize("dtype", ["f32", "f16", "bf16", "f64", "i8", "i64", "u8"])
@pytest.mark.parametrize(
    ("shape", "dim"), [((40_000,), 0), ((3, 700), 1), ((500, 9), 0), ((90, 3), 1)], ids=str
)
def test_extremes(xr, rng, op, dtype, shape, dim):
    x = Placed(shape, dtype, values=rng.integers(0, 50, shape))
    if dtype in FLOATS:
        x = Placed(
            shape,
            dtype,
            values=np.where(rng.random(shape) < 0.0005, np.nan, rng.integers(-30, 30, shape)),
        )
    values, indices = Placed(shape, dtype), Placed(shape, "i64")
    getattr(xr.kernels, op)(values.array, indices.array, x.array, dim)
    expected, places = running_extreme(x.host.astype(np.float64), dim, op == "cummax")
    assert_close(values.result().astype(np.float64), expected)
    assert_close(indices.result(), places)
    alone = Placed(shape, dtype)
    getattr(xr.kernels, op)(alone.array, None, x.array, dim)
    assert_close(alone.result().astype(np.float64), expected)


def test_logcumsumexp(xr, rng):
    x = Placed((3, 5000), "f32", values=rng.standard_normal((3, 5000)) * 30)
    x = Placed((3, 5000), "f32", values=np.where(np.arange(5000) < 3, -np.inf, x.host))
    out = Placed((3, 5000), "f32")
    xr.kernels.logcumsumexp(out.array, x.array, 1)
    expected = np.logaddexp.accumulate(x.host.astype(np.float64), axis=1)
    assert_close(out.result().astype(np.float64), expected, 1e-5, 1e-4)


def test_expression(xr, rng):
    # Not commutative: the later value wins unless it is 0.
    scan = xr.kernels.Scan("last_set", "b != T(0) ? b : a", "T(0)")
    for n in (1, 20, 3000, 50_000):
        x = Placed((n,), "i32", values=rng.integers(1, 99, n) * (rng.random(n) < 0.01))
        out = Placed((n,), "i32")
        scan(out.array, x.array, 0)
        at = np.maximum.accumulate(np.where(x.host != 0, np.arange(n), 0))
        assert_close(out.result(), x.host[at])


def test_repeats(xr, rng):
    x = xr.from_numpy(rng.standard_normal(500_000).astype(np.float32))

    def run():
        out = xr.empty(500_000)
        xr.kernels.cumsum(out, x, 0)
        return out.numpy()

    assert_repeatable(run, 3)


def test_wrong_use(xr):
    x, y = xr.zeros((3, 4)), xr.zeros((4, 3))
    with pytest.raises(xr.UsageError, match="dimension 2, expected -2 to 1"):
        xr.kernels.cumsum(x, x, 2)
    with pytest.raises(xr.UsageError, match="expected the shape of"):
        xr.kernels.cumsum(y, x, 0)
    with pytest.raises(xr.UsageError, match="the index array is f32"):
        xr.kernels.cummax(x, y, x, 0)
    with pytest.raises(xr.UsageError, match="expected a float or complex dtype"):
        xr.kernels.logcumsumexp(xr.zeros(3, "i32"), xr.zeros(3), 0)
    with pytest.raises(xr.Unsupported, match="c64"):
        xr.kernels.cummax(xr.zeros(3, "c64"), xr.zeros(3, "i64"), xr.zeros(3, "c64"), 0)
    with pytest.raises(xr.CompileError, match="nonsense"):
        xr.kernels.Scan("bad", "nonsense(a, b)", "T(0)")(x, x, 0)
