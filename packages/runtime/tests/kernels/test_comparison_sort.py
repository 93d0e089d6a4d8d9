"""Sorts by an expression over several operands: stability, short and long rows, dtypes, layouts."""

import numpy as np
import pytest
from layouts import FLOATS, INTEGERS, LAYOUTS, Placed
from sorting import bits, expected_order, numbers, take
from xpu_testing import assert_close, assert_repeatable, values_checked

pytestmark = pytest.mark.usefixtures("device")

# (shape, dim): rows of no and one element, within a run, a tile, and of several tiles, whole ones or not.
ROWS = [
    ((), 0),
    ((0,), 0),
    ((1,), 0),
    ((7,), 0),
    ((9,), 0),
    ((129,), 0),
    ((2048,), 0),
    ((4097,), 0),
    ((50_000,), 0),
    ((3, 0, 4), 1),
    ((700, 5), 1),
    ((90, 30, 2), 1),
    ((7, 3000), 1),
    ((2100, 3), 0),
]
LESS = "a0 < b0"
BY_BOTH = "a0 > b0 || (a0 == b0 && a1 < b1)"


@pytest.fixture(scope="module")
def by_first(xr):
    return xr.kernels.ComparisonSort("by_first", LESS)


@pytest.fixture(scope="module")
def by_both(xr):
    return xr.kernels.ComparisonSort("by_both", BY_BOTH)


@pytest.mark.parametrize(("shape", "dim"), ROWS, ids=str)
def test_rows(by_first, rng, shape, dim):
    keys = Placed(shape, "i32", values=rng.integers(-50, 50, shape))
    payload = Placed(shape, "i64", values=np.arange(keys.host.size).reshape(shape))
    outs = Placed(shape, "i32"), Placed(shape, "i64")
    by_first([out.array for out in outs], [keys.array, payload.array], dim)
    order = expected_order(keys.host, dim)
    assert_close(outs[0].result(), take(keys.host, order, dim))
    assert_close(outs[1].result(), take(payload.host, order, dim))


@pytest.mark.parametrize("n", [100, 6000])
def test_several_operands(by_both, rng, n):
    first = Placed((n,), "u8", values=rng.integers(0, 9, n))
    second = Placed((n,), "f32", values=rng.integers(0, 9, n))
    third = Placed((n,), "i16", values=np.arange(n))
    outs = Placed((n,), "u8"), Placed((n,), "f32"), Placed((n,), "i16")
    by_both([out.array for out in outs], [first.array, second.array, third.array])
    order = np.lexsort((third.host, second.host, -first.host.astype(int)))
    for out, x in zip(outs, (first, second, third), strict=True):
        assert_close(out.result(), x.host[order])


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
def test_dtypes(xr, by_first, rng, dtype):
    values = numbers(rng, (2, 3000), dtype)
    values = np.where(
        values != values, values.dtype.type(7), values
    )  # NaN has no place in this order
    x, out = Placed((2, 3000), dtype, values=values), Placed((2, 3000), dtype)
    by_first([out.array], [x.array])
    assert_close(bits(out.result()), bits(take(x.host, expected_order(x.host, 1), 1)))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_layouts(by_first, rng, layout, target):
    shape = (7, 50, 6)
    x, out = Placed(shape, "i32", layout, rng.integers(-9, 9, shape)), Placed(shape, "i32", target)
    by_first([out.array], [x.array], 1)
    assert_close(out.result(), np.sort(x.host, 1))


def test_in_place(by_first, rng):
    keys = Placed((5000,), "i32", values=rng.integers(-50, 50, 5000))
    payload = Placed((5000,), "i32", values=np.arange(5000))
    order = expected_order(keys.host, 0)
    expected = keys.host[order], payload.host[order]
    # The outputs may even be the operands in another order.
    by_first([payload.array, keys.array], [keys.array, payload.array])
    assert_close(payload.result(), expected[0])
    assert_close(keys.result(), expected[1])


@pytest.mark.parametrize("n", [500, 30_000])
@pytest.mark.parametrize("less", ["true", "false", "a0 != b0", "xpu::abs(a0 - b0) > 3"])
def test_contradictions_stay_inside_the_row(xr, rng, n, less):
    x, out = Placed((n,), "i32", values=rng.integers(0, 99, n)), Placed((n,), "i32")
    xr.kernels.ComparisonSort("contradiction", less)([out.array], [x.array])
    assert not values_checked() or set(out.result()) <= set(x.host)


def test_repeats(xr, by_first, rng):
    x = xr.from_numpy(rng.integers(0, 100, 100_000))

    def run():
        out, order = xr.empty(100_000, "i64"), xr.empty(100_000, "i64")
        by_first([out, order], [x, xr.from_numpy(np.arange(100_000))])
        return order.numpy()

    assert_repeatable(run, 3)


def test_wrong_use(xr, by_first):
    x = xr.zeros((3, 4))
    with pytest.raises(xr.UsageError, match="got 0 operands, expected 1 to 12"):
        by_first([], [])
    with pytest.raises(xr.UsageError, match="got 1 outputs, expected 2"):
        by_first([x], [x, x])
    with pytest.raises(xr.UsageError, match="expected the shape of"):
        by_first([x, x], [x, xr.zeros((4, 3))])
    with pytest.raises(xr.UsageError, match=r"value array is f32.*expected i32"):
        by_first([x], [xr.zeros((3, 4), "i32")])
    with pytest.raises(xr.UsageError, match="dimension 2, expected -2 to 1"):
        by_first([x], [x], 2)
    with pytest.raises(xr.Unsupported, match="c64"):
        by_first([xr.zeros(3, "c64")], [xr.zeros(3, "c64")])
    with pytest.raises(xr.CompileError, match="nonsense"):
        xr.kernels.ComparisonSort("bad", "nonsense(a0)")([x], [x])
