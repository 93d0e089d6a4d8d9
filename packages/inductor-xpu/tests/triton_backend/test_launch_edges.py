"""Rare arguments and grids of kernels, launches in other threads, and kernels whose source changes."""

import sys
from pathlib import Path

import pytest
import torch
import triton
import triton.language as tl
from xpu_testing import run_child

FOLDER = Path(__file__).parent
sys.path.insert(0, str(FOLDER))

import kernels  # noqa: E402

pytestmark = pytest.mark.values


@triton.jit
def count_programs(out_ptr):
    tl.atomic_add(out_ptr, 1)
    tl.atomic_max(out_ptr + 1, tl.program_id(0))
    tl.atomic_max(out_ptr + 2, tl.program_id(1))
    tl.atomic_max(out_ptr + 3, tl.program_id(2))


@pytest.mark.parametrize("grid", [(70_000,), (3, 70_000), (2, 2, 70_000), (1 << 17, 2, 1)])
def test_grids_beyond_65535(grid):
    out = torch.zeros(4, dtype=torch.int32, device="xpu")
    count_programs[grid](out)
    x, y, z = (*grid, 1, 1)[:3]
    assert out.tolist() == [x * y * z, x - 1, y - 1, z - 1]


@pytest.mark.parametrize("place", [0, 1, 2])
@pytest.mark.parametrize("repeated", [False, True])
def test_a_grid_of_more_programs_than_numbers_of_them(place, repeated):
    """The number of a program has 32 bits."""
    out = torch.zeros(4, dtype=torch.int32, device="xpu")
    if repeated:
        count_programs[(1,)](out)
    grid = [1, 1, 1]
    grid[place] = 1 << 31
    with pytest.raises(ValueError, match=r"count_programs.*2147483648.*2147483647"):
        count_programs[tuple(grid)](out)
    assert out[0].item() == int(repeated)


def test_no_elements():
    x = torch.empty(0, device="xpu")
    assert kernels.add(x, x).shape == (0,)  # an empty grid
    out = torch.zeros(128, device="xpu")
    kernels.add_kernel[(1,)](x, x, out, 0, BLOCK=128)
    assert not out.any()
    y = torch.ones(128, device="xpu")
    kernels.add_kernel[(2,)](y[128:], y[:0], y[:0], 0, BLOCK=128)
    assert (y == 1).all()


@triton.jit
def copy_strided(
    x_ptr, out_ptr, rows, columns, row_stride, column_stride, R: tl.constexpr, C: tl.constexpr
):
    row, column = tl.arange(0, R)[:, None], tl.arange(0, C)[None, :]
    inside = (row < rows) & (column < columns)
    x = tl.load(x_ptr + row * row_stride + column * column_stride, inside)
    tl.store(out_ptr + row * columns + column, x, inside)


VIEWS = {
    "transposed": lambda x: x.t(),
    "offset": lambda x: x[3:, 5:],
    "steps": lambda x: x[1::2, ::3],
    "expanded": lambda x: x[2:3].expand(20, -1),
    "turned": lambda x: x.view(2, 15, 28).select(0, 1).t(),
    "diagonal": lambda x: x.as_strided((10, 4), (29, 1), 7),
}


@pytest.mark.parametrize("view", VIEWS)
@pytest.mark.parametrize("dtype", [torch.float32, torch.int8, torch.bool, torch.bfloat16])
def test_views(view, dtype):
    """A pointer is that of the view's first element."""
    x = (torch.arange(30 * 28, device="xpu") % 127).to(dtype).view(30, 28)
    viewed = VIEWS[view](x)
    out = torch.zeros(viewed.shape, dtype=dtype, device="xpu")
    copy_strided[(1,)](viewed, out, *viewed.shape, *viewed.stride(), R=32, C=32)
    assert torch.equal(out, viewed)


@triton.jit
def convert(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out_ptr + at, tl.load(x_ptr + at).to(out_ptr.dtype.element_ty))


FROM = (torch.bool, torch.uint8, torch.int16, torch.float16, torch.float8_e4m3fn, torch.float8_e5m2)


@pytest.mark.parametrize("dtype", FROM)
def test_tensors_of_small_types(dtype):
    values = torch.tensor([0.0, 1.0, 1.0, 0.0] if dtype == torch.bool else [0.0, 1.0, 2.0, 12.0])
    x, wide = values.to(dtype).to("xpu"), torch.zeros(4, device="xpu")
    convert[(1,)](x, wide, N=4)
    assert torch.equal(wide.cpu(), values)
    back = torch.zeros(4 * dtype.itemsize, dtype=torch.uint8, device="xpu").view(dtype)
    convert[(1,)](wide, back, N=4)
    assert torch.equal(back.cpu().float(), values)


@pytest.mark.parametrize("dtype", [torch.complex64, torch.float8_e4m3fnuz, torch.float8_e8m0fnu])
def test_a_type_that_triton_has_not_is_named(dtype):
    x = torch.zeros(8, dtype=torch.uint8, device="xpu").view(dtype)
    with pytest.raises(Exception, match=str(dtype).removeprefix("torch.") + "|fp8e4b8|uint8"):
        convert[(1,)](x, torch.zeros(4, device="xpu"), N=4)


@triton.jit
def with_options(
    x_ptr,
    bias_ptr,
    out_ptr,
    kind: tl.constexpr,
    sizes: tl.constexpr,
    scale=2.0,
    N: tl.constexpr = 16,
):
    at = tl.arange(0, N)
    x = tl.load(x_ptr + at)
    if bias_ptr is not None:
        x += tl.load(bias_ptr + at)
    if kind == "negated":
        x = -x
    elif kind == "scaled":
        x = x * scale
    tl.store(out_ptr + at, x + sizes[0] * sizes[1])


def test_none_texts_tuples_and_names():
    x, out = torch.arange(16.0, device="xpu"), torch.zeros(16, device="xpu")
    grid = (1,)
    for bias in (None, torch.ones(16, device="xpu"), None):
        moved = x if bias is None else x + 1
        with_options[grid](x, bias, out, "negated", (3, 4))
        assert torch.equal(out, 12 - moved)
        with_options[grid](out_ptr=out, sizes=(1, 2), kind="scaled", bias_ptr=bias, x_ptr=x)
        assert torch.equal(out, moved * 2 + 2)
        with_options[grid](x, bias, out, sizes=(0, 0), kind="scaled", scale=3)
        assert torch.equal(out, moved * 3)
        with_options[grid](x, bias, out, "other", (1, 1), scale=None)
        assert torch.equal(out, moved + 1)
    with pytest.raises(TypeError, match="sizes"):
        with_options[grid](x, None, out, "other")
    with pytest.raises(Exception, match="no_such_name"):
        with_options[grid](x, None, out, "other", (1, 1), no_such_name=1)


@triton.jit
def nothing(x_ptr, count, N: tl.constexpr):
    x = tl.load(x_ptr + tl.arange(0, N), tl.arange(0, N) < count)
    tl.sum(x, 0)


@triton.jit
def empty():
    pass


def test_kernels_without_stores():
    x = torch.ones(16, device="xpu")
    for _ in range(2):
        nothing[(3,)](x, 5, N=16)
        empty[(2, 2)]()
    torch.xpu.synchronize()
    assert (x == 1).all()


def test_threads_have_their_own_devices_and_streams(tmp_path):
    program = tmp_path / "program.py"
    program.write_text(
        f"""
import sys, threading
sys.path.insert(0, {str(FOLDER)!r})
import torch, kernels
errors = []

def work(device, use_stream):
    try:
        torch.xpu.set_device(device)
        stream = torch.xpu.Stream() if use_stream else torch.xpu.current_stream()
        with torch.xpu.stream(stream):
            x = torch.full((1000,), 3.0, device="xpu")
            assert x.device.index == device
            for _ in range(50):
                y = kernels.add(x, x)
                kernels.double(y)
            assert (y == 12).all()
            assert torch.xpu.current_stream() == stream
    except BaseException as error:
        errors.append(error)

assert torch.xpu.device_count() == 2
x = torch.ones(1000, device="xpu")
kernels.add(x, x)
for use_stream in (False, True):
    threads = [threading.Thread(target=work, args=(n % 2, use_stream)) for n in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
assert not errors, errors
# The main thread's device and stream are as before, and a thread's are its own.
assert torch.xpu.current_device() == 0
assert (kernels.add(x, x) == 2).all()
other = torch.xpu.Stream()
with torch.xpu.stream(other):
    thread = threading.Thread(target=work, args=(0, False))
    thread.start()
    y = kernels.add(x, x)
    thread.join()
    assert torch.xpu.current_stream() == other
other.synchronize()
assert (y == 2).all() and not errors, errors
"""
    )
    run_child(program, env={"XPU_CPU_DEVICES": "2"}, timeout=300).check()


MODULE = """
import triton
import triton.language as tl
{head}

@triton.jit
def helper(x):
    return x {operation}

@triton.jit
def kernel(x_ptr, out_ptr, N: tl.constexpr):
    at = tl.arange(0, N)
    tl.store(out_ptr + at, helper(tl.load(x_ptr + at)))
"""


def test_a_module_that_is_edited_and_imported_again(tmp_path):
    """A kernel is known by its text and that of what it calls, in the process and in Triton's cache on disk."""
    run_child(
        f"""
import importlib, os, sys
from pathlib import Path
folder = Path({str(tmp_path)!r})
sys.path.insert(0, str(folder))
sys.dont_write_bytecode = True
import torch
text = {MODULE!r}
x = torch.arange(16.0, device="xpu")
out = torch.empty_like(x)
module = None
edits = [("", "* 2", x * 2), ("", "* 3", x * 3), ("\\n", "+ 1", x + 1), ("", "* 2", x * 2), ("N = 5", "- 1", x - 1)]
for head, operation, expected in edits * 2:
    (folder / "edited.py").write_text(text.format(head=head, operation=operation))
    importlib.invalidate_caches()
    module = importlib.import_module("edited") if module is None else importlib.reload(module)
    for _ in range(2):
        out.zero_()
        module.kernel[(1,)](x, out, N=16)
        assert torch.equal(out, expected), (head, operation, out)
""",
        env={"XPU_CACHE_DIR": str(tmp_path), "TRITON_CACHE_DIR": str(tmp_path / "triton")},
    ).check()
