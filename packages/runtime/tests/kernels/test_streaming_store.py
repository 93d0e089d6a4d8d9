"""Elementwise operations whose results are too large for the caches, so that CPUs use streaming stores."""

import numpy as np
import pytest
from layouts import NUMPY
from xpu_testing import run_child

pytestmark = pytest.mark.usefixtures("device")

LARGE = 16 << 20  # output bytes from which streaming stores are used


def counted(count):
    """Numbers that differ from their neighbours, and are exact in every dtype."""
    return (np.arange(count) % 113).astype(np.float32)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "i8", "i64", "c64"])
@pytest.mark.parametrize("first", [0, 3])
def test_every_element_is_stored(xr, dtype, first):
    """In whole lines or, from memory that begins inside of one, not."""
    count = LARGE // np.dtype(NUMPY[dtype]).itemsize + 1009
    host = counted(count)
    x, memory = xr.from_numpy(host, dtype), xr.zeros(count + 7, dtype)
    out = memory.view((count,), (1,), first)
    op = xr.kernels.Elementwise("more", "a0 + (T)1", headers=[])
    op(out, [x])
    expected = np.zeros(count + 7, np.float32)
    expected[first : first + count] = host + 1
    np.testing.assert_array_equal(memory.numpy().astype(np.complex64), expected)


def test_results_of_different_sizes(xr):
    count = (4 << 20) + 5
    host = counted(count)
    outs = [xr.empty(count, dtype) for dtype in ("f32", "bool", "i64")]
    op = xr.kernels.Elementwise(
        "three", ["a0 * p0", "a0 > (T)50", "a0 + (T)1"], scalars=1, headers=[]
    )
    op(outs, [xr.from_numpy(host)], [2.0])
    for out, expected in zip(outs, (host * 2, host > 50, host + 1), strict=True):
        np.testing.assert_array_equal(out.numpy(), expected)


def test_rows_beside_one_that_is_broadcast(xr):
    rows, columns = 4099, 1040
    host, row = counted(rows * columns).reshape(rows, columns), counted(columns)
    out, x = xr.empty((rows, columns)), xr.from_numpy(host)
    op = xr.kernels.Elementwise("join", "a0 - a1 + (T)index", inputs=2, headers=[], uses_index=True)
    few = xr.from_numpy(row).view((rows, columns), (0, 1))
    op(out, [x, few])
    index = np.arange(rows * columns, dtype=np.float32).reshape(rows, columns)
    np.testing.assert_array_equal(out.numpy(), host - row + index)


@pytest.mark.parametrize("dtype", ["f32", "bf16", "u8", "c64"])
def test_fills_and_copies(xr, dtype):
    count = LARGE // np.dtype(NUMPY[dtype]).itemsize + 1009
    host, x = counted(count), xr.empty(count + 5, dtype).view((count,), (1,), 5)
    for value in (0, 7):
        xr.kernels.fill(x, value)
        np.testing.assert_array_equal(x.numpy().astype(np.complex64), np.full(count, value))
    xr.kernels.copy(x, xr.from_numpy(host, dtype))
    np.testing.assert_array_equal(x.numpy().astype(np.complex64), host)


def test_in_place(xr):
    host = counted(LARGE // 4 + 3)
    x = xr.from_numpy(host)
    op = xr.kernels.Elementwise("more", "a0 + (T)1", headers=[])
    op(x, [x])
    op(x, [x])
    np.testing.assert_array_equal(x.numpy(), host + 2)


DUMP = """
import xpu_runtime as xr
x, out = xr.zeros(5 << 20), xr.empty(5 << 20)
op = xr.kernels.Elementwise("dumped", "a0 + (T)1", headers=[])
op(out, [x])
xr.synchronize()
here = xr.Device(x.device).type == "cpu" and not xr.generic_backend()
assert ("streaming_store" in op.source([out], [x])) == here
"""


def test_what_is_dumped_is_for_every_device(tmp_path):
    """No assembly of this machine's, which a GPU's compiler could not read."""
    run_child(DUMP, {"XPU_DUMP_KERNELS": str(tmp_path)}).check()
    sources = [file.read_text() for file in tmp_path.glob("*.sycl")]
    ours = [source for source in sources if "elementwise_dumped" in source]
    assert ours
    assert all("#define XPU_CPU_VECTOR" not in source for source in ours)
