"""Gathers and scatters: dtypes, layouts, repeated and wrong indices, order, XLA's numbers."""

import numpy as np
import pytest
from layouts import FLOATS, INTEGERS, LAYOUTS, NUMPY, Placed
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")

ALL = ("bool", *INTEGERS, *FLOATS, "c64", "c128", "f8e4m3", "f8e5m2")
COMBINE = {
    "add": np.add,
    "multiply": np.multiply,
    "minimum": np.minimum,
    "maximum": np.maximum,
}


def some(rng, shape, dtype):
    """Small whole numbers, which every dtype holds, and of which sums are exact."""
    if dtype == "bool":
        return rng.random(shape) < 0.3
    if dtype in ("c64", "c128"):
        return rng.integers(-3, 4, shape) + 1j * rng.integers(-3, 4, shape)
    return rng.integers(0 if dtype.startswith("u") else -3, 4, shape).astype(NUMPY[dtype])


def along(index, dim, shape):
    """numpy's index for ``x[.., index, ..]`` along a dimension."""
    grid = list(np.indices(index.shape, sparse=True))
    grid[dim] = index
    return tuple(grid)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("index_dtype", ["i32", "i64"])
def test_gather_dtypes(xr, rng, dtype, index_dtype):
    x = Placed((9, 40), dtype, values=some(rng, (9, 40), dtype))
    index = Placed((7, 61), index_dtype, values=rng.integers(0, 40, (7, 61)))
    out = Placed((7, 61), dtype)
    xr.kernels.gather(out.array, x.array, 1, index.array)
    assert_close(out.result().view("u1"), x.host[along(index.host, 1, x.host)].view("u1"))


@pytest.mark.parametrize(
    ("shape", "index_shape", "dim"),
    [
        ((), (), 0),
        ((5,), (0,), 0),
        ((5,), (700,), 0),
        ((0, 4), (0, 4), 1),
        ((300, 5), (300, 2), 1),
        ((6, 2000), (3, 2000), 0),
        ((3, 4, 50, 6), (2, 4, 99, 5), -2),
    ],
    ids=str,
)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_gather_shapes(xr, rng, shape, index_shape, dim, layout):
    x = Placed(shape, "f32", layout, rng.standard_normal(shape))
    size = shape[dim] if shape else 1
    index = Placed(index_shape, "i64", layout, rng.integers(0, size, index_shape))
    out = Placed(index_shape, "f32", layout)
    xr.kernels.gather(out.array, x.array, dim, index.array)
    host = x.host if not shape else x.host[along(index.host, dim % len(shape), shape)]
    assert_close(out.result(), host)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("columns", [1, 3, 16, 64, 100])
def test_rows(xr, rng, dtype, columns):
    x = Placed((50, columns), dtype, values=some(rng, (50, columns), dtype))
    index = Placed((6, 11), "i64", values=rng.integers(0, 50, (6, 11)))
    out = Placed((6, 11, columns), dtype)
    xr.kernels.index_select(out.array, x.array, 0, index.array)
    assert_close(out.result().view("u1"), x.host[index.host].view("u1"))


@pytest.mark.parametrize("layout", LAYOUTS)
@pytest.mark.parametrize("dim", [0, 1, 2])
def test_index_select_along(xr, rng, layout, dim):
    x = Placed((12, 20, 34), "i16", layout, rng.integers(-99, 99, (12, 20, 34)))
    index = Placed((15,), "i32", layout, rng.integers(0, 12, 15))
    shape = [12, 20, 34]
    shape[dim] = 15
    out = Placed(shape, "i16", layout)
    xr.kernels.index_select(out.array, x.array, dim, index.array)
    assert_close(out.result(), np.take(x.host, index.host, axis=dim))


# (shape of x, the index tensors' shapes, None where all is taken)
ADVANCED = [
    ((7,), [(3,)]),
    ((7,), [()]),
    ((7, 50), [(3,)]),
    ((7, 50), [None, (20,)]),
    ((7, 50), [(4, 1), (5,)]),
    ((5, 6, 7, 8), [None, (3,), (2, 3)]),
    ((5, 6, 7, 8), [(3,), None, (2, 3)]),
    ((5, 6, 7, 8), [None, (2,), None, (2,)]),
    ((5, 6, 7), [None, None, (0,)]),
    ((5, 6, 7), [(4, 2), (4, 2), (4, 2)]),
]


def advanced(rng, shape, indices):
    made = [
        None if s is None else Placed(s, "i64", values=rng.integers(-n, n, s))
        for n, s in zip(shape, indices, strict=False)
    ]
    arrays = [None if i is None else i.array for i in made]
    host = tuple(slice(None) if i is None else i.host for i in made)
    return arrays, host


@pytest.mark.parametrize(("shape", "indices"), ADVANCED, ids=str)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "reversed"])
def test_index(xr, rng, shape, indices, layout):
    x = Placed(shape, "f32", layout, rng.standard_normal(shape))
    arrays, host = advanced(rng, shape, indices)
    expected = x.host[host]
    assert_close(xr.kernels.index(x.array, arrays).numpy(), expected)
    out = Placed(expected.shape, "f32", layout)
    xr.kernels.index(x.array, arrays, out.array)
    assert_close(out.result(), expected)


@pytest.mark.parametrize(("shape", "indices"), ADVANCED, ids=str)
@pytest.mark.parametrize("deterministic", [False, True])
def test_index_put(xr, rng, shape, indices, deterministic):
    x = Placed(shape, "i32", values=rng.integers(-99, 99, shape))
    arrays, host = advanced(rng, shape, indices)
    values = rng.integers(-99, 99, x.host[host].shape).astype(np.int32)
    expected = x.host.copy()
    np.add.at(expected, host, values)
    xr.kernels.index_put(x.array, arrays, xr.from_numpy(values), "add", deterministic=deterministic)
    assert_close(x.result(), expected)


def test_index_put_broadcasts(xr, rng):
    x = Placed((8, 30), "f32", values=np.zeros((8, 30)))
    rows = rng.permutation(8)[:5]
    values = rng.standard_normal((1, 30)).astype(np.float32)
    xr.kernels.index_put(x.array, [xr.from_numpy(rows)], xr.from_numpy(values))
    expected = np.zeros((8, 30), np.float32)
    expected[rows] = values
    assert_close(x.result(), expected)


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("deterministic", [False, True])
@pytest.mark.parametrize("combine", COMBINE)
def test_combine_dtypes(xr, rng, dtype, deterministic, combine):
    if dtype[0] == "c" and combine in ("minimum", "maximum"):
        pytest.skip("complex numbers have no order")
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
        expected[along(index.host, dim, shape)] = used
    else:
        np.add.at(expected, along(index.host, dim, shape), used)
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
    at = along(index, 1, (4, 80))
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


@pytest.mark.values
@pytest.mark.parametrize("wrong", [-1, 10, 2**40, -(2**40)])
def test_wrong_indices_are_faults(xr, wrong):
    x = xr.zeros((10, 4))
    index = np.zeros((6, 4), np.int64)
    index[2, 1] = wrong
    out = Placed((6, 4), "f32", values=np.full((6, 4), 7))
    xr.kernels.gather(out.array, x, 0, xr.from_numpy(index))
    with pytest.raises(
        xr.KernelFault, match=f"gather on device 0: index {wrong} is out of range for a dim"
    ):
        xr.synchronize()
    expected = np.zeros((6, 4), np.float32)
    expected[2, 1] = 7  # neither read nor written
    assert_close(out.result(), expected)
    for deterministic in (False, True):
        target = Placed((10, 4), "f32", values=np.zeros((10, 4)))
        xr.kernels.scatter(
            target.array, 0, xr.from_numpy(index), 1.0, "add", deterministic=deterministic
        )
        with pytest.raises(xr.KernelFault, match="scatter on device 0"):
            xr.synchronize()
        expected = np.zeros((10, 4), np.float32)
        expected[0] = [6, 5, 6, 6]
        assert_close(target.result(), expected)


@pytest.mark.values
def test_faults_name_the_operation(xr):
    x, wrong = xr.zeros((10, 4)), xr.from_numpy(np.array([0, -11]))
    kernels = xr.kernels
    for name, call in {
        "index_select": lambda: kernels.index_select(xr.zeros((2, 4)), x, 0, wrong),
        "index": lambda: kernels.index(x, [wrong]),
        "index_put": lambda: kernels.index_put(x, [wrong], xr.zeros((2, 4))),
        "index_combine": lambda: kernels.index_combine(x, 0, wrong, xr.zeros((2, 4))),
        "embedding_backward": lambda: kernels.embedding_backward(x, xr.zeros((2, 4)), wrong),
    }.items():
        call()
        with pytest.raises(xr.KernelFault, match=f"^{name} on device 0: index -11"):
            xr.synchronize()


def test_clamp_and_drop(xr):
    x = xr.from_numpy(np.arange(5, dtype=np.float32))
    index = xr.from_numpy(np.array([-3, 2, 99]))
    out = xr.zeros(3)
    xr.kernels.index_select(out, x, 0, index, out_of_range="clamp")
    assert_close(out.numpy(), np.array([0, 2, 4], np.float32))
    out = Placed((3,), "f32", values=[7, 7, 7])
    xr.kernels.gather(out.array, x, 0, index, out_of_range="drop")
    assert_close(out.result(), np.array([7, 2, 7], np.float32))
    for deterministic in (False, True):
        out = Placed((5,), "f32", values=np.zeros(5))
        xr.kernels.scatter(
            out.array, 0, index, 1.0, "add", out_of_range="drop", deterministic=deterministic
        )
        assert_close(out.result(), np.array([0, 0, 1, 0, 0], np.float32))
    xr.synchronize()


def gather_reference(operand, starts, sizes, *numbers):
    """StableHLO's words, one slice at a time."""
    offset, collapsed, batching, index_batching, mapped, vector = numbers
    starts = np.expand_dims(starts, vector) if vector == starts.ndim else starts
    batch_shape = [n for d, n in enumerate(starts.shape) if d != vector]
    kept = [d for d in range(operand.ndim) if d not in collapsed and d not in batching]
    out_rank = len(batch_shape) + len(offset)
    batch_dims = [d for d in range(out_rank) if d not in offset]
    shape = [0] * out_rank
    for d, n in zip(batch_dims, batch_shape, strict=True):
        shape[d] = n
    for d, k in zip(offset, kept, strict=True):
        shape[d] = sizes[k]
    out = np.zeros(shape, operand.dtype)
    for batch in np.ndindex(*batch_shape):
        at = list(batch)
        at.insert(vector, slice(None))
        begin = [0] * operand.ndim
        for value, d in zip(starts[tuple(at)], mapped, strict=True):
            begin[d] = int(np.clip(value, 0, operand.shape[d] - sizes[d]))
        for d, i in zip(batching, index_batching, strict=True):
            begin[d] = batch[i if i < vector else i - 1]
        window = tuple(slice(b, b + n) for b, n in zip(begin, sizes, strict=True))
        slot = [slice(None)] * out_rank
        for d, b in zip(batch_dims, batch, strict=True):
            slot[d] = b
        out[tuple(slot)] = operand[window].reshape([sizes[k] for k in kept])
    return out


GATHER_NUMBERS = (
    "offset_dims",
    "collapsed_slice_dims",
    "operand_batching_dims",
    "start_indices_batching_dims",
    "start_index_map",
    "index_vector_dim",
)
# operand, start indices, slice sizes, then the dimension numbers in the order of gather_reference.
SLICES = [
    ((10, 6), (4, 1), (1, 6), (1,), (0,), (), (), (0,), 1),
    ((10, 6), (4,), (1, 6), (1,), (0,), (), (), (0,), 1),
    ((10, 6), (4, 2), (3, 2), (1, 2), (), (), (), (1, 0), 1),
    ((10, 6), (2, 4, 3), (1, 4), (0,), (0,), (), (), (0, 1), 0),
    ((3, 10, 6), (3, 5, 1), (1, 2, 6), (1, 3), (), (0,), (0,), (1,), 2),
    ((3, 10, 6), (5, 3, 2), (1, 2, 3), (2, 3), (), (0,), (1,), (2, 1), 2),
    ((9,), (2, 0), (4,), (1,), (), (), (), (), 1),
]


@pytest.mark.parametrize("numbers", SLICES, ids=str)
@pytest.mark.parametrize("index_dtype", ["i32", "i64", "u8"])
def test_gather_slices(xr, rng, numbers, index_dtype):
    shape, index_shape, sizes, *dims = numbers
    x = Placed(shape, "f32", values=rng.standard_normal(shape))
    low = 0 if index_dtype == "u8" else -4
    index = rng.integers(low, 14, index_shape).astype(NUMPY[index_dtype])
    expected = gather_reference(x.host, index, sizes, *dims)
    out = Placed(expected.shape, "f32")
    xr.kernels.gather_slices(
        out.array,
        x.array,
        xr.from_numpy(index),
        sizes,
        **dict(zip(GATHER_NUMBERS, dims, strict=True)),
    )
    assert_close(out.result(), expected)


def scatter_reference(out, index, updates, *numbers):
    """Adds one window at a time."""
    window, inserted, batching, index_batching, mapped, vector = numbers
    index = np.expand_dims(index, vector) if vector == index.ndim else index
    kept = [d for d in range(out.ndim) if d not in inserted and d not in batching]
    sizes = [1] * out.ndim
    for d, w in zip(kept, window, strict=True):
        sizes[d] = updates.shape[w]
    scatter_dims = [d for d in range(updates.ndim) if d not in window]
    for batch in np.ndindex(*[updates.shape[d] for d in scatter_dims]):
        at = list(batch)
        at.insert(vector, slice(None))
        begin = [0] * out.ndim
        inside = True
        for value, d in zip(index[tuple(at)], mapped, strict=True):
            begin[d] = int(value)
            inside = inside and 0 <= value <= out.shape[d] - sizes[d]
        if not inside:
            continue
        for d, i in zip(batching, index_batching, strict=True):
            begin[d] = batch[i if i < vector else i - 1]
        slot = [slice(None)] * updates.ndim
        for d, b in zip(scatter_dims, batch, strict=True):
            slot[d] = b
        target = out[tuple(slice(b, b + n) for b, n in zip(begin, sizes, strict=True))]
        target += updates[tuple(slot)].reshape(target.shape)


SCATTER_NUMBERS = (
    "update_window_dims",
    "inserted_window_dims",
    "input_batching_dims",
    "scatter_indices_batching_dims",
    "scatter_dims_to_operand_dims",
    "index_vector_dim",
)
# operand, indices, updates, then the dimension numbers in the order of scatter_reference.
WINDOWS = [
    ((10, 6), (40, 1), (40, 6), (1,), (0,), (), (), (0,), 1),
    ((10, 6), (40, 2), (40,), (), (0, 1), (), (), (0, 1), 1),
    ((10, 6), (40, 2), (40, 3, 2), (1, 2), (), (), (), (1, 0), 1),
    ((3, 10, 6), (3, 5, 1), (3, 5, 2, 6), (2, 3), (), (0,), (0,), (1,), 2),
    ((9,), (2, 0), (2, 9), (1,), (), (), (), (), 1),
    ((8, 300), (30, 1), (30, 200), (1,), (0,), (), (), (0,), 1),
]


@pytest.mark.parametrize("numbers", WINDOWS, ids=str)
@pytest.mark.parametrize("deterministic", [False, True])
def test_scatter_slices(xr, rng, numbers, deterministic):
    shape, index_shape, update_shape, *dims = numbers
    out = Placed(shape, "i32", values=rng.integers(-9, 9, shape))
    index = rng.integers(-2, 12, index_shape).astype(np.int32)
    updates = Placed(update_shape, "i32", values=rng.integers(-9, 9, update_shape))
    expected = out.host.copy()
    scatter_reference(expected, index, updates.host, *dims)
    xr.kernels.scatter_slices(
        out.array,
        xr.from_numpy(index),
        updates.array,
        "add",
        deterministic=deterministic,
        **dict(zip(SCATTER_NUMBERS, dims, strict=True)),
    )
    assert_close(out.result(), expected)


def test_wrong_use(xr):
    kernels = xr.kernels
    x, index = xr.zeros((3, 4)), xr.zeros((3, 4), "i64")
    with pytest.raises(xr.UsageError, match=r"gather: the index is f32.*expected i32 or i64"):
        kernels.gather(x, x, 0, x)
    with pytest.raises(xr.UsageError, match="gather: got dimension 2, expected -2 to 1"):
        kernels.gather(x, x, 2, index)
    with pytest.raises(xr.UsageError, match="expected tensors of one dtype"):
        kernels.gather(xr.zeros((3, 4), "i32"), x, 0, index)
    with pytest.raises(xr.UsageError, match=r"the output is .*expected the shape of"):
        kernels.gather(xr.zeros((3, 3)), x, 0, index)
    with pytest.raises(xr.UsageError, match="none larger but dimension 0"):
        kernels.gather(xr.zeros((3, 5)), x, 0, xr.zeros((3, 5), "i64"))
    with pytest.raises(xr.UsageError, match="elements overlap in dimension 0"):
        kernels.scatter(xr.zeros(4).view((3, 4), (0, 1)), 0, index, x)
    with pytest.raises(xr.UsageError, match="in place of dimension 0"):
        kernels.index_select(x, x, 0, xr.zeros(2, "i64"))
    with pytest.raises(xr.UsageError, match="got 3 index tensors, expected at most 2"):
        kernels.index(x, [index, index, index])
    with pytest.raises(xr.UsageError, match="does not broadcast with those before it"):
        kernels.index(x, [xr.zeros(2, "i64"), xr.zeros(3, "i64")])
    with pytest.raises(xr.UsageError, match="got no index tensor"):
        kernels.index(x, [None])
    with pytest.raises(xr.UsageError, match=r"index_put: the other tensor is .*does not broadcast"):
        kernels.index_put(x, [xr.zeros(2, "i64")], xr.zeros((3, 4)))
    with pytest.raises(xr.UsageError, match="has no elements, so every index is out of range"):
        kernels.index_select(xr.zeros((2, 4)), xr.zeros((0, 4)), 0, xr.zeros(2, "i64"))
    with pytest.raises(xr.UsageError, match="elements of c64 have no order"):
        kernels.scatter(xr.zeros(3, "c64"), 0, xr.zeros(3, "i64"), xr.zeros(3, "c64"), "maximum")
    with pytest.raises(xr.CompileError, match="nonsense"):
        kernels.scatter(x, 0, index, x, kernels.Combiner("bad", "nonsense(a, b)"))
    with pytest.raises(xr.UsageError, match="the slice is 5 in dimension 1"):
        kernels.gather_slices(
            x, x, index, (1, 5), offset_dims=(1,), start_index_map=(0,), index_vector_dim=1
        )
    with pytest.raises(xr.UsageError, match="expected 1 in dimension 1"):
        kernels.gather_slices(
            x,
            x,
            index,
            (1, 4),
            offset_dims=(1,),
            collapsed_slice_dims=(0,),
            start_index_map=(0,),
            index_vector_dim=1,
        )
