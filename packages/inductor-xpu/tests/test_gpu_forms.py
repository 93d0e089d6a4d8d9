"""Reductions compiled as for a GPU, run on this device beside eager mode."""

import pytest
import torch
import xpu_runtime as xr
from torch._inductor.utils import fresh_cache, run_and_get_code
from torch.nn import functional
from xpu_runtime.codegen.target import Target

from inductor_xpu.reader import targets

pytestmark = [
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
    pytest.mark.values,
]

# Of rows and columns: around the lanes, a group and several parts; primes, whose parts have masks.
SIZES = [1, 15, 16, 17, 127, 128, 129, 8191, 8192, 65537]


@pytest.fixture
def compile_for_gpu(monkeypatch):
    lanes = xr.Device(0).sub_group_size
    target = Target(lanes=lanes, units=4, gpu=True, max_items=8 * lanes, local_memory=48 << 10)
    monkeypatch.setattr(targets, "_target", lambda index: target)

    def compiled(function, *inputs, dynamic=False):
        """Return the results and the number of kernels."""
        torch._dynamo.reset()
        with fresh_cache():
            got, (code,) = run_and_get_code(torch.compile(function, dynamic=dynamic), *inputs)
        return got, code.count("XPU_KERNEL(")

    yield compiled
    torch._dynamo.reset()


def whole_numbers(*sizes, dtype=torch.float32):
    """Return numbers whose sums are exact in any order, with many equal ones."""
    return torch.randint(-4, 5, sizes).to("xpu", dtype)


def everything(dim):
    def function(x):
        return x.sum(dim), x.amax(dim), x.argmax(dim), (x == 1).any(dim)

    return function


@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.int32, torch.int64])
@pytest.mark.parametrize("size", SIZES)
def test_rows_and_columns(compile_for_gpu, size, dtype):
    x = whole_numbers(3, size, dtype=dtype)
    for dim, y in ((1, x), (0, x.T.contiguous())):
        function = everything(dim)
        got, _ = compile_for_gpu(function, y)
        torch.testing.assert_close(got, function(y), rtol=0, atol=0)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("size", [8192 * 5, 65536, 65537, 3 * 65537])
def test_a_full_reduction_has_two_kernels(compile_for_gpu, size, dynamic):
    for function in (torch.sum, torch.amin, lambda x: (x * 2).sum() + 1):
        x = whole_numbers(size)
        got, kernels = compile_for_gpu(function, x, dynamic=dynamic)
        assert kernels == 2
        torch.testing.assert_close(got, function(x), rtol=0, atol=0)


@pytest.mark.parametrize("shape", [(65536, 8), (65537, 40), (4096, 200)])
def test_a_reduction_along_columns_has_two_kernels(compile_for_gpu, shape):
    x = whole_numbers(*shape)
    got, kernels = compile_for_gpu(lambda x: x.sum(0), x)
    assert kernels == 2
    torch.testing.assert_close(got, x.sum(0), rtol=0, atol=0)


@pytest.mark.parametrize("dynamic", [False, True])
@pytest.mark.parametrize("position", [torch.argmax, torch.argmin])
@pytest.mark.parametrize(
    ("shape", "dim", "kernels"),
    [
        ((65537,), None, 0),
        ((3, 65537), 1, 0),
        ((20000, 24), 0, 0),
        ((20000, 24), None, 0),
        ((2000, 300), 1, 1),
        ((5, 7), None, 1),
    ],
)
def test_positions_of_parts_are_eager_modes(
    compile_for_gpu, position, shape, dim, kernels, dynamic
):
    x = whole_numbers(*shape)
    got, count = compile_for_gpu(lambda x: position(x, dim), x, dynamic=dynamic)
    assert count == kernels
    torch.testing.assert_close(got, position(x, dim), rtol=0, atol=0)


def test_empty_reductions(compile_for_gpu):
    def sums(x):
        return x.sum(), x.sum(0), x.sum(1), (x == 1).any(1)

    for shape in ((0, 3), (3, 0), (0, 65536), (0, 0)):
        x = whole_numbers(*shape)
        got, _ = compile_for_gpu(sums, x)
        torch.testing.assert_close(got, sums(x), rtol=0, atol=0)


def test_nan_of_any_part(compile_for_gpu):
    for place in (0, 40_000, 65_536):
        x = whole_numbers(2, 65537)
        x[1, place] = float("nan")
        got, _ = compile_for_gpu(lambda x: (x.amax(1), x.amin(1), x.argmax(1)), x)
        torch.testing.assert_close(got, (x.amax(1), x.amin(1), x.argmax(1)), equal_nan=True)


@pytest.mark.parametrize("shape", [(64, 3, 56, 56), (5, 4, 3, 7), (9, 2, 65, 127), (20000, 24)])
def test_batch_statistics(compile_for_gpu, shape):
    x = torch.randn(shape, device="xpu") + 3
    dims = [dim for dim in range(x.dim()) if dim != 1]
    got, _ = compile_for_gpu(lambda x: torch.var_mean(x, dims), x)
    torch.testing.assert_close(got, torch.var_mean(x, dims), rtol=1e-4, atol=1e-5)


def test_a_split_variance_reads_its_input_once(compile_for_gpu):
    x = torch.randn(64, 3, 56, 56, device="xpu")
    _, kernels = compile_for_gpu(lambda x: torch.var_mean(x, (0, 2, 3)), x)
    assert kernels == 2


def test_a_sum_of_normalized_channels(compile_for_gpu):
    """Loads of a channel's mean and scale do not make neighboring lanes compute neighboring channels."""

    def function(x, mean, scale, weight):
        return ((x - mean) * scale * weight).sum((0, 2, 3))

    x = torch.randn(16, 24, 56, 56, device="xpu")
    inputs = x, *torch.randn(3, 24, 1, 1, device="xpu")
    got, _ = compile_for_gpu(function, *inputs)
    torch.testing.assert_close(got, function(*inputs), rtol=1e-4, atol=1e-2)


@pytest.mark.parametrize("rows", [1, 40])
@pytest.mark.parametrize("columns", [1, 17, 127, 128, 129, 1000, 2048, 2049])
def test_norms_and_softmax(compile_for_gpu, rows, columns):
    x = torch.randn(rows, columns, device="xpu", dtype=torch.bfloat16)
    weight, bias = torch.randn(2, columns, device="xpu")

    def function(x, weight, bias):
        y = functional.layer_norm(x.float(), (columns,), weight, bias)
        return y, functional.softmax(x.float(), 1), functional.rms_norm(x, (columns,))

    got, _ = compile_for_gpu(function, x, weight, bias)
    torch.testing.assert_close(got, function(x, weight, bias), rtol=1e-2, atol=1e-4)


def test_a_group_norm(compile_for_gpu):
    x = torch.randn(3, 8, 40, 40, device="xpu")
    weight, bias = torch.randn(2, 8, device="xpu")
    inputs = x, weight, bias
    got, _ = compile_for_gpu(lambda x, w, b: functional.group_norm(x, 2, w, b), *inputs)
    torch.testing.assert_close(got, functional.group_norm(x, 2, weight, bias), rtol=1e-4, atol=1e-5)
