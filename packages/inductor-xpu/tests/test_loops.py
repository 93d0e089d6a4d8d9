"""How Inductor's loops become kernels: splits of reductions, and quotients of loops."""

import pytest
import torch
from torch._inductor import config
from torch._inductor.utils import run_and_get_code
from torch.nn import functional
from xpu_runtime.codegen.target import Target

from inductor_xpu.splits import wanted_parts, wanted_parts_of_rows, whole_parts

# What Inductor imports warns about itself.
pytestmark = pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning")

CPU = Target(lanes=16, units=2, gpu=False, max_items=4096, local_memory=1 << 15)
GPU = Target(lanes=32, units=64, gpu=True, max_items=1024, local_memory=1 << 16)


def whole_numbers(*sizes, dtype=torch.float32):
    """Return numbers whose sums are exact in any order."""
    return torch.randint(-4, 5, sizes).to("xpu", dtype)


def kernels_of(function, *inputs, dynamic=False):
    """Compare a function with eager mode; return the source of its kernels, one by one."""
    torch._dynamo.reset()
    got, (code,) = run_and_get_code(torch.compile(function, dynamic=dynamic), *inputs)
    torch.testing.assert_close(got, function(*inputs))
    return code.split("XPU_KERNEL(")[1:]


def test_parts_fill_the_device_and_are_worth_a_kernel():
    assert wanted_parts(1024, 8192, CPU) == 8
    assert wanted_parts(1024, 512, CPU) == 1
    assert wanted_parts(1 << 20, 1 << 20, CPU) == 1
    assert wanted_parts(1024, 8192, GPU) == 128
    assert wanted_parts(64, 8192, GPU) == 64
    more_cores = Target(lanes=16, units=64, gpu=False, max_items=4096, local_memory=1 << 15)
    assert wanted_parts(1024, 8192, more_cores) == 8
    assert wanted_parts_of_rows(1, 1 << 23, GPU) == 1024
    assert wanted_parts_of_rows(64, 131072, GPU) == 16
    assert wanted_parts_of_rows(4096, 131072, GPU) == 1
    assert wanted_parts_of_rows(1, 8192, GPU) == 1


def test_parts_are_whole_dimensions_if_there_are_some():
    assert whole_parts([64, 56, 56], 9) == 16
    assert whole_parts([4, 4096], 9) == 16
    assert whole_parts([1 << 20], 1000) == 1024
    assert whole_parts([7993], 9) == 9  # a prime


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_a_sum_of_long_columns_has_two_kernels(dtype):
    x = whole_numbers(8000, 700, dtype=dtype)
    assert len(kernels_of(lambda x: x.sum(0), x)) == 2
    assert len(kernels_of(lambda x: (x * 2).amax(0) + 1, x)) == 2


@pytest.mark.values
def test_reductions_that_are_not_split():
    x = whole_numbers(8000, 700)
    for function in (lambda x: x.sum(1), lambda x: x[:100].sum(0), lambda x: x.argmax(0)):
        assert len(kernels_of(function, x)) == 1
    assert len(kernels_of(lambda x: x.sum(1), x.view(700, 8000))) == 1  # along rows of memory
    assert len(kernels_of(lambda x: x.sum(0), x[:7993])) == 1  # a prime: parts would differ in rows
    assert len(kernels_of(lambda x: x.sum(0), x, dynamic=True)) == 1
    with config.patch(split_reductions=False):
        assert len(kernels_of(lambda x: x.sum(0), x)) == 1


@pytest.mark.values
@pytest.mark.parametrize("size", [32, 3])
def test_a_group_norm_divides_in_no_lane(size):
    """The channel is a quotient of the loop along a group; lanes of a short one have several."""
    x = torch.randn(3, 8, size, size, device="xpu")
    weight, bias = torch.randn(2, 8, device="xpu")
    code = "".join(kernels_of(lambda x, w, b: functional.group_norm(x, 2, w, b), x, weight, bias))
    assert (f"/ ({size * size})" in code) == (size == 3)


@pytest.mark.values
def test_kernels_of_one_source_that_divide_loops_of_other_sizes():
    """Both have the same source, because the outermost folded size is an argument."""

    def sums(x, y):
        return x.sum((0, 1)), y.sum((0, 1))

    torch._dynamo.reset()
    compiled = torch.compile(sums, dynamic=True)
    for n in (40, 56):
        inputs = whole_numbers(n, 10, 24), whole_numbers(n, 3, 24)
        torch.testing.assert_close(compiled(*inputs), sums(*inputs))


@pytest.mark.values
@pytest.mark.parametrize("columns", [8, 24, 37])
@pytest.mark.parametrize("rows", [10, 900])
def test_a_mean_that_updates_an_input(rows, columns):
    """Blocks of columns may overlap; each column must be updated once all the same."""

    def update(running, x):
        running.mul_(0.75).add_(x.mean(0), alpha=0.25)

    x, running = torch.randn(rows, columns, device="xpu"), torch.randn(columns, device="xpu")
    expected = 0.75 * running + 0.25 * x.mean(0)
    torch.compile(update)(running, x)
    torch.testing.assert_close(running, expected)
