"""Sorts: every dtype, both directions, short and long rows, layouts, the orders of floats, repeatability."""

import numpy as np
import pytest
from layouts import FLOATS, INTEGERS, LAYOUTS, NUMPY, Placed
from sorting import bits, expected_order, numbers, take
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")

# (shape, dim): rows of no and one element, shorter and longer than a sub-group, in one group's memory, in one
# block and in several, many, few, and along other dimensions than the last.
ROWS = [
    ((), 0),
    ((0,), 0),
    ((1,), 0),
    ((5,), -1),
    ((24,), 0),
    ((25,), 0),
    ((100,), 0),
    ((2048,), 0),
    ((4097,), 0),
    ((100_001,), 0),
    ((1 << 20,), 0),
    ((3, 0, 4), 1),
    ((0, 7), 1),
    ((700, 5), 1),
    ((7, 130), 1),
    ((130, 67), 0),
    ((3, 70_000), 1),
    ((5000, 3), 0),
    ((6, 50, 40), 1),
    ((90, 300), 1),
]


def check(xr, x, dim, descending=False, dtype_of_indices="i64"):
    values, indices = Placed(x.host.shape, x.dtype), Placed(x.host.shape, dtype_of_indices)
    xr.kernels.sort(values.array, indices.array, x.array, dim, descending=descending)
    order = expected_order(x.host, dim, descending)
    assert_close(indices.result(), order.astype(NUMPY[dtype_of_indices]))
    assert_close(bits(values.result()), bits(take(x.host, order, dim)))
    alone = Placed(x.host.shape, x.dtype)
    xr.kernels.sort(alone.array, None, x.array, dim, descending=descending)
    sorted_values = take(x.host, order, dim)
    assert_close(alone.result().astype(np.float64), sorted_values.astype(np.float64))


@pytest.mark.parametrize(("shape", "dim"), ROWS, ids=str)
@pytest.mark.parametrize("descending", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "i64"])
def test_rows(xr, rng, shape, dim, descending, dtype):
    check(xr, Placed(shape, dtype, values=numbers(rng, shape, dtype)), dim, descending)


@pytest.mark.parametrize("dtype", ["bool", *INTEGERS, *FLOATS])
@pytest.mark.parametrize("shape", [(20, 17), (3, 1500)], ids=str)
def test_dtypes(xr, rng, shape, dtype):
    for descending in (False, True):
        check(xr, Placed(shape, dtype, values=numbers(rng, shape, dtype)), -1, descending)


@pytest.mark.parametrize("dtype", ["bool", "i16", "bf16", "u64", "f64"])
def test_dtypes_of_long_rows(xr, rng, dtype):
    check(xr, Placed((20_000,), dtype, values=numbers(rng, 20_000, dtype)), 0)


@pytest.mark.parametrize("n", [20, 2000, 30_000])
def test_positions_alone(xr, rng, n):
    x, indices = Placed((n,), "f32", values=numbers(rng, n, "f32")), Placed((n,), "i32")
    xr.kernels.sort(None, indices.array, x.array, 0)
    assert_close(indices.result(), expected_order(x.host, 0).astype(np.int32))


@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2"])
def test_fp8(xr, dtype):
    every = np.arange(256, dtype=np.uint8).view(NUMPY[dtype])
    check(xr, Placed((256,), dtype, values=every), 0)


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1])
def test_layouts(xr, rng, layout, target, dim):
    shape = (7, 50, 6)
    x = Placed(shape, "i32", layout, rng.integers(-9, 9, shape))
    values, indices = Placed(shape, "i32", target), Placed(shape, "i64", target)
    xr.kernels.sort(values.array, indices.array, x.array, dim)
    order = expected_order(x.host, dim)
    assert_close(indices.result(), order)
    assert_close(values.result(), take(x.host, order, dim))


def test_a_value_for_every_element(xr, rng):
    x = Placed((4, 1), "f32", values=rng.random((4, 1)))
    spread = Placed((4, 300), "f32")
    xr.kernels.sort(spread.array, None, x.array.view((4, 300), (1, 0)), 1)
    assert_close(spread.result(), np.broadcast_to(x.host, (4, 300)))


@pytest.mark.parametrize("n", [50, 3000, 60_000])
def test_shapes_of_data(xr, rng, n):
    ramp = np.arange(n, dtype=np.float32)
    cases = (
        np.full(n, 7.0),
        ramp,
        ramp[::-1],
        np.full(n, np.nan),
        ramp % 2,
        np.where(ramp == 5, -1, 0),
    )
    for values in cases:
        check(xr, Placed((n,), "f32", values=values), 0, dtype_of_indices="i32")


@pytest.mark.parametrize("n", [20, 2000, 30_000])
@pytest.mark.parametrize("dtype", ["bf16", "f64"])
def test_total_order(xr, rng, n, dtype):
    size = NUMPY[dtype].itemsize
    pattern = rng.integers(0, 2 ** (8 * size) - 1, n, f"u{size}", endpoint=True)
    pattern[: n // 4] = 0
    pattern[n // 8 : n // 4] = 1 << (8 * size - 1)
    x = Placed((n,), dtype, values=pattern.view(NUMPY[dtype]))
    signed = pattern.view(f"i{size}").astype(np.int64)
    order = np.argsort(
        np.where(signed < 0, signed ^ (2 ** (8 * size - 1) - 1), signed), kind="stable"
    )
    values, indices, alone = Placed((n,), dtype), Placed((n,), "i64"), Placed((n,), dtype)
    xr.kernels.sort(values.array, indices.array, x.array, 0, total_order=True)
    assert_close(indices.result(), order)
    assert_close(bits(values.result()), pattern[order])
    xr.kernels.sort(alone.array, None, x.array, 0, total_order=True)
    assert_close(bits(alone.result()), pattern[order])


@pytest.mark.parametrize("n", [20, 2000, 30_000])
def test_values_alone_have_their_zeros_in_order(xr, rng, n):
    x = Placed((n,), "f32", values=np.where(rng.random(n) < 0.5, 0.0, -0.0))
    out = Placed((n,), "f32")
    xr.kernels.sort(out.array, None, x.array, 0)
    assert_close(np.signbit(out.result()), np.sort(np.signbit(x.host))[::-1])


@pytest.mark.parametrize("n", [20, 2000, 30_000])
def test_in_place(xr, rng, n):
    x = Placed((3, n), "f32", values=numbers(rng, (3, n), "f32"))
    order = expected_order(x.host, 1)
    wanted, indices = take(x.host, order, 1), Placed((3, n), "i64")
    xr.kernels.sort(x.array, indices.array, x.array, 1)
    assert_close(bits(x.result()), bits(wanted))
    assert_close(indices.result(), order)


def test_repeats(xr, rng):
    x = xr.from_numpy(rng.integers(0, 1000, 300_000).astype(np.float32))

    def run():
        out = xr.empty(300_000, "i64")
        xr.kernels.sort(None, out, x, 0)
        return out.numpy()

    assert_repeatable(run, 3)


def test_nothing_wanted(xr):
    xr.kernels.sort(None, None, xr.zeros(5), 0)


def test_wrong_use(xr):
    x = xr.zeros((3, 4))
    with pytest.raises(xr.UsageError, match="dimension 2, expected -2 to 1"):
        xr.kernels.sort(x, None, x, 2)
    with pytest.raises(xr.UsageError, match="expected the shape of"):
        xr.kernels.sort(xr.zeros((4, 3)), None, x, 0)
    with pytest.raises(xr.UsageError, match="value array is f16"):
        xr.kernels.sort(xr.zeros((3, 4), "f16"), None, x, 0)
    with pytest.raises(xr.UsageError, match=r"index array is f32.*expected i64"):
        xr.kernels.sort(None, x, x, 0)
    with pytest.raises(xr.Unsupported, match="c64"):
        xr.kernels.sort(None, xr.zeros(3, "i64"), xr.zeros(3, "c64"), 0)
