"""XLA's gather and scatter, with all its dimension numbers."""

import numpy as np
import pytest
from layouts import NUMPY, Placed
from xpu_testing import assert_close

pytestmark = pytest.mark.usefixtures("device")


def gather_reference(operand, starts, sizes, *numbers):
    """StableHLO's words, one slice at a time."""
    offset, collapsed, batching, index_batching, mapped, vector = numbers
    starts = np.expand_dims(starts, vector) if vector == starts.ndim else starts
    batch_shape = [n for d, n in enumerate(starts.shape) if d != vector]
    window_dims = [d for d in range(operand.ndim) if d not in collapsed and d not in batching]
    out_rank = len(batch_shape) + len(offset)
    batch_dims = [d for d in range(out_rank) if d not in offset]
    shape = [0] * out_rank
    for d, n in zip(batch_dims, batch_shape, strict=True):
        shape[d] = n
    for d, k in zip(offset, window_dims, strict=True):
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
        out[tuple(slot)] = operand[window].reshape([sizes[k] for k in window_dims])
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
    window_dims = [d for d in range(out.ndim) if d not in inserted and d not in batching]
    sizes = [1] * out.ndim
    for d, w in zip(window_dims, window, strict=True):
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
