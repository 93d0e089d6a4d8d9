"""Scatters: every way of combining, repeated indices, order, embeddings."""

import numpy as np
import pytest
from indexing import ALL, COMBINE, along, some
from layouts import LAYOUTS, NUMPY, Placed
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")


# Complex numbers have no order.
COMBINED = [(c, d) for c in COMBINE for d in ALL if d[0] != "c" or c in ("add", "multiply")]


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize(("combine", "dtype"), COMBINED)
def test_combine_dtypes(xr, rng, dtype, deterministic, combine):
    shape, many = (37,), 150 if combine == "add" else 90
    size = 37 if combine == "add" else 30
    x = Placed(shape, dtype, values=some(rng, shape, dtype))
    src = Placed((many,), dtype, values=some(rng, many, dtype))
    index = np.concatenate([np.arange(30), rng.integers(0, size, many - 30)])
    if combine == "multiply":  # at most three factors more, or the narrow floats would not be exact
        index = np.tile(np.arange(30), 3)
    if dtype.startswith("f8"):  # f8e5m2 is exact up to 8
        index, src = index[:45], Placed((45,), dtype, values=src.host[:45] != 0)
    xr.kernels.scatter(
        x.array, 0, xr.from_numpy(index), src.array, combine, deterministic=deterministic
    )
    wide = {"f8e4m3": "f4", "f8e5m2": "f4", "f16": "f4", "bf16": "f4"}.get(dtype, NUMPY[dtype])
    expected = x.host.astype(wide)
    COMBINE[combine].at(expected, index, src.host.astype(wide))
    assert_close(x.result().astype(wide), expected.astype(NUMPY[dtype]).astype(wide))


@pytest.mark.parametrize("combine", ["replace", "add"])
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_scatter_layouts(xr, rng, combine, deterministic, layout, dim):
    shape, index_shape = (9, 20, 33), [7, 18, 30]
    index_shape[dim] = shape[dim]
    x = Placed(shape, "i32", layout, rng.integers(-99, 99, shape))
    src = Placed(shape, "i32", layout, rng.integers(-99, 99, shape))
    order = np.argsort(rng.random(index_shape), axis=dim)  # no element twice
    index = Placed(index_shape, "i64", layout, order if combine == "replace" else order // 3)
    xr.kernels.scatter(x.array, dim, index.array, src.array, combine, deterministic=deterministic)
    used = src.host[tuple(map(slice, index_shape))]
    expected = x.host.copy()
    if combine == "replace":
        expected[along(index.host, dim)] = used
    else:
        np.add.at(expected, along(index.host, dim), used)
    assert_close(x.result(), expected)


def test_scatter_of_a_number(xr):
    for dtype, value in (("f32", 1.5), ("i64", 2**40), ("bool", True), ("c64", 1 + 2j)):
        x = Placed((3, 50), dtype, values=np.zeros((3, 50)))
        index = np.tile(np.arange(0, 50, 2), (3, 1))
        xr.kernels.scatter(x.array, 1, xr.from_numpy(index), value)
        expected = np.zeros((3, 50), NUMPY[dtype])
        expected[:, ::2] = value
        assert_close(x.result(), expected)


@pytest.mark.parametrize("dtype", ["f32", "i32", "f16", "i8"])
@pytest.mark.parametrize("include_self", [False, True])
def test_scatter_mean(xr, rng, dtype, include_self):
    x = Placed((4, 30), dtype, values=some(rng, (4, 30), dtype))
    src = Placed((4, 80), dtype, values=some(rng, (4, 80), dtype))
    index = rng.integers(0, 25, (4, 80))
    xr.kernels.scatter_mean(x.array, 1, xr.from_numpy(index), src.array, include_self=include_self)
    at = along(index, 1)
    total, count = x.host.astype(np.float64), np.ones((4, 30))
    if not include_self:
        total[at], count[at] = 0, 0
    np.add.at(total, at, src.host.astype(np.float64))
    np.add.at(count, at, 1)
    mean = np.floor_divide if dtype[0] == "i" else np.divide
    expected = mean(total, np.maximum(count, 1)).astype(NUMPY[dtype])
    assert_close(x.result(), expected, 2e-3 if dtype == "f16" else 1e-6, 1e-6)


# (rows of the target, columns, updates): every way of combining, by atomics, by lines and by groups.
SUMS = [
    (3, 1, 5000),
    (5000, 1, 70_000),
    (11, 40, 3000),
    (500, 64, 4000),
    (70_000, 2, 9),
    (9, 2000, 300),
]


@pytest.mark.parametrize(("rows", "columns", "updates"), SUMS, ids=str)
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("dtype", ["f32", "bf16", "i64"])
def test_index_add(xr, rng, rows, columns, updates, deterministic, dtype):
    out = Placed((rows, columns), dtype, values=some(rng, (rows, columns), dtype))
    src = Placed((updates, columns), dtype, values=some(rng, (updates, columns), dtype))
    index = rng.integers(0, rows, updates)
    xr.kernels.index_combine(
        out.array, 0, xr.from_numpy(index), src.array, deterministic=deterministic
    )
    expected = out.host.astype(np.float64)
    np.add.at(expected, index, src.host.astype(np.float64))
    loose = 0.05 * np.sqrt(updates / rows) if dtype == "bf16" else 0
    assert_close(out.result().astype(np.float64), expected, loose, 40 * loose)


def test_far_elements(xr):
    far = xr.empty((2**31 + 4096,), "u8")
    index = xr.from_numpy(np.array([2**31 + 5, 3, -1, 2**31 + 4095]))
    seven = xr.from_numpy(np.array([7, 8, 10, 10], np.uint8))
    xr.kernels.index_put(far, [index], seven)
    last = far.view((4096,), (1,), 2**31)
    assert_close(xr.kernels.index(far, [index]).numpy(), np.array([7, 8, 10, 10], np.uint8))
    assert_close(last.numpy()[[5, 4095]], np.array([7, 10], np.uint8))
    rows = far.view((2**20 + 1, 2048), (2048, 1))
    out = xr.empty((2, 2048), "u8")
    xr.kernels.index_select(out, rows, 0, xr.from_numpy(np.array([2**20, 0])))
    assert_close(out.numpy()[[0, 1], [5, 3]], np.array([7, 8], np.uint8))
    many = xr.from_numpy(np.array([2**31 + 5] * 300))
    xr.kernels.fill(last, 0)
    xr.kernels.scatter(far, 0, many, 1, "add", deterministic=True)
    assert_close(last.numpy()[5:6], np.array([300 - 256], np.uint8))


def test_index_add_of_repeated_columns(xr, rng):
    out = Placed((4, 5, 6), "i32", values=np.zeros((4, 5, 6)))
    src = xr.from_numpy(rng.integers(-9, 9, (4, 7, 1)).astype(np.int32)).view((4, 7, 6), (7, 1, 0))
    index = xr.from_numpy(np.array([3])).view((7,), (0,))
    xr.kernels.index_combine(out.array, 1, index, src)
    expected = np.zeros((4, 5, 6), np.int32)
    expected[:, 3] = src.view((4, 7, 1), (7, 1, 1)).numpy().sum(1)
    assert_close(out.result(), expected)


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("padding", [None, 3])
def test_embedding_backward(xr, rng, deterministic, padding):
    grad = rng.integers(-9, 9, (6, 500, 40)).astype(np.float32)
    index = rng.integers(0, 90, (6, 500))
    weight = Placed((90, 40), "f32")
    xr.kernels.embedding_backward(
        weight.array,
        xr.from_numpy(grad),
        xr.from_numpy(index),
        padding,
        deterministic=deterministic,
    )
    expected = np.zeros((90, 40), np.float32)
    np.add.at(expected, index, grad)
    if padding is not None:
        expected[padding] = 0
    assert_close(weight.result(), expected)


@pytest.mark.parametrize("shape", [(40_000,), (300, 90), (70, 400)])
def test_deterministic_sums_repeat(xr, rng, shape):
    src = xr.from_numpy(
        (rng.standard_normal(shape) * 10.0 ** rng.integers(-4, 4, shape)).astype(np.float32)
    )
    index = xr.from_numpy(rng.integers(0, 20, shape[0]))

    def run():
        out = xr.zeros((20, *shape[1:]))
        xr.kernels.index_combine(out, 0, index, src, deterministic=True)
        return out.numpy()

    assert_repeatable(run, 3)


def test_the_last_write_stays(xr, rng):
    for many in (100, 30_000):
        values = np.arange(many, dtype=np.float32)
        index = rng.integers(0, 40, many)
        out = Placed((40,), "f32", values=np.full(40, -1))
        xr.kernels.scatter(
            out.array, 0, xr.from_numpy(index), xr.from_numpy(values), deterministic=True
        )
        expected = np.full(40, -1, np.float32)
        for i, at in enumerate(index):
            expected[at] = values[i]
        assert_close(out.result(), expected)


@pytest.mark.parametrize("combine", ["replace", "add"])
@pytest.mark.parametrize("shape", [(1, 5000), (300, 50)], ids=str)
def test_indices_outside_of_long_lines(xr, rng, shape, combine):
    length = shape[1]
    order = rng.random(shape).argsort(1)
    order[rng.random(shape) < 0.1] = length
    order[rng.random(shape) < 0.1] = -3
    x, src = (Placed(shape, "i32", values=rng.integers(-99, 99, shape)) for _ in range(2))
    index = xr.from_numpy(order)
    xr.kernels.scatter(x.array, 1, index, src.array, combine, out_of_range="drop")
    expected = x.host.copy()
    row, place = np.nonzero((order >= 0) & (order < length))
    at = row, order[row, place]
    expected[at] = src.host[row, place] + (expected[at] if combine == "add" else 0)
    assert_close(x.result(), expected)


@pytest.mark.values
@pytest.mark.parametrize("combine", ["replace", "add"])
def test_a_wrong_index_in_a_long_line_is_a_fault(xr, combine):
    x, index = xr.zeros((300, 50)), np.zeros((300, 50), np.int64)
    index[299, 49] = 50
    xr.kernels.scatter(x, 1, xr.from_numpy(index), 1.0, combine)
    with pytest.raises(xr.KernelFault, match="index 50 is out of range for a dimension of size 50"):
        xr.synchronize()


@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("dtype", ["i32", "u8", "i64"])
def test_own_combiner(xr, rng, deterministic, dtype):
    bits = xr.kernels.Combiner("bits", "T(a ^ b)")
    out = Placed((50,), dtype, values=rng.integers(0, 99, 50))
    src = Placed((900,), dtype, values=rng.integers(0, 99, 900))
    index = rng.integers(0, 50, 900)
    xr.kernels.scatter(
        out.array, 0, xr.from_numpy(index), src.array, bits, deterministic=deterministic
    )
    expected = out.host.copy()
    np.bitwise_xor.at(expected, index, src.host)
    assert_close(out.result(), expected)


def test_nan_stays_in_extremes(xr):
    for combine in ("minimum", "maximum"):
        out = Placed((3,), "f32", values=[0, np.nan, 0])
        src = xr.from_numpy(np.array([np.nan, 1, 2, -2], np.float32))
        xr.kernels.scatter(out.array, 0, xr.from_numpy(np.array([0, 1, 2, 2])), src, combine)
        third = -2 if combine == "minimum" else 2
        assert_close(out.result(), np.array([np.nan, np.nan, third], np.float32))
