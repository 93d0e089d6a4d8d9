"""Gathers, and indexing by several tensors: dtypes, layouts, wrong indices."""

import numpy as np
import pytest
from indexing import ALL, along, some
from layouts import LAYOUTS, Placed
from xpu_testing import assert_close

pytestmark = pytest.mark.usefixtures("device")


@pytest.mark.parametrize("dtype", ALL)
@pytest.mark.parametrize("index_dtype", ["i32", "i64"])
def test_gather_dtypes(xr, rng, dtype, index_dtype):
    x = Placed((9, 40), dtype, values=some(rng, (9, 40), dtype))
    index = Placed((7, 61), index_dtype, values=rng.integers(0, 40, (7, 61)))
    out = Placed((7, 61), dtype)
    xr.kernels.gather(out.array, x.array, 1, index.array)
    assert_close(out.result().view("u1"), x.host[along(index.host, 1)].view("u1"))


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
    host = x.host if not shape else x.host[along(index.host, dim % len(shape))]
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
