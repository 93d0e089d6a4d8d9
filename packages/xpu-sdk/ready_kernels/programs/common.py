"""What most programs want: fills, conversions, transposed copies, products, rows by number, sums, slices."""

from collections.abc import Iterator

import xpu_runtime as xr

DTYPES = ("f32", "bf16", "f16", "i64")
ROWS = {
    "offset_dims": (1,),
    "collapsed_slice_dims": (0,),
    "start_index_map": (0,),
    "index_vector_dim": 1,
}
ALONG = {
    "offset_dims": (),
    "collapsed_slice_dims": (1,),
    "operand_batching_dims": (0,),
    "start_indices_batching_dims": (0,),
    "start_index_map": (1,),
    "index_vector_dim": 1,
}


def calls(xr) -> Iterator[None]:
    """One step for each kernel or few."""
    yield from common(xr)
    for dtype in ("f32", "bf16"):
        yield from permuted(xr, dtype)
        yield from sums(xr, dtype)
        yield from slices(xr, dtype)


def common(xr) -> Iterator[None]:
    """Fills, conversions, products, rows by number."""
    for dtype in DTYPES:
        x, y = xr.zeros((64, 64), dtype), xr.zeros((64, 64), dtype)
        xr.kernels.fill(y.transpose(), 1)
        xr.kernels.copy(y, x.transpose())
        yield
        for other in DTYPES:
            xr.kernels.copy(xr.empty((64, 64), other), x)
        yield
        if dtype != "i64":
            xr.dnn.matmul(x, y)
        index = xr.zeros(64, "i64")
        xr.kernels.index_select(y, x, 0, index)
        xr.kernels.index_combine(y, 0, index, x)
        yield


def permuted(xr, dtype: str) -> Iterator[None]:
    """Heads of attention to and fro, with the last dimension in its place and not."""
    x = xr.zeros((4, 64, 8, 32), dtype)
    for axes in ((0, 2, 1, 3), (0, 2, 3, 1), (0, 3, 2, 1)):
        view = x.transpose(*axes)
        xr.kernels.copy(xr.empty(view.shape, dtype), view)
        yield


def sums(xr, dtype: str) -> Iterator[None]:
    """Of columns, few and many, and of rows."""
    for columns in (64, 1024):
        x = xr.zeros((64, columns), dtype)
        xr.kernels.reduce("sum", xr.empty(columns, dtype), x, dims=[0])
        xr.kernels.reduce("sum", xr.empty(64, dtype), x, dims=[1])
        yield


def slices(xr, dtype: str) -> Iterator[None]:
    """JAX's ``x[index]`` and ``take_along_axis``, and what their gradients add."""
    x, rows, picked = xr.zeros((64, 256), dtype), xr.zeros((32, 256), dtype), xr.zeros(64, dtype)
    index = xr.zeros((64, 1), "i32")
    xr.kernels.gather_slices(rows, x, index.view((32, 1), (1, 1)), (1, 256), **ROWS)
    xr.kernels.gather_slices(picked, x, index, (1, 1), **ALONG)
    yield
    xr.kernels.scatter_slices(x, index.view((32, 1), (1, 1)), rows, "add", **scattered(ROWS))
    xr.kernels.scatter_slices(x, index, picked, "add", **scattered(ALONG))
    yield


def scattered(gathered: dict) -> dict:
    """The dimension numbers of the scatter that is the gradient of a gather."""
    names = {
        "offset_dims": "update_window_dims",
        "collapsed_slice_dims": "inserted_window_dims",
        "operand_batching_dims": "input_batching_dims",
        "start_indices_batching_dims": "scatter_indices_batching_dims",
        "start_index_map": "scatter_dims_to_operand_dims",
        "index_vector_dim": "index_vector_dim",
    }
    return {names[name]: numbers for name, numbers in gathered.items()}


def run() -> None:
    """Make all calls."""
    for _ in calls(xr):
        xr.synchronize()


CASES = {"calls": run}
