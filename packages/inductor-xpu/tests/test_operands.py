"""Operands of compiled functions: element types, sizes, devices, shared memory, changes in place."""

import itertools

import pytest
import torch
from comparison import check, compare

pytestmark = [
    pytest.mark.values,
    pytest.mark.usefixtures("forget_compiled_code"),
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


def test_inputs_that_are_changed():
    def function(x, y):
        x.add_(1)
        y[2:] = x[2:]
        return x * y

    x, y = torch.randn(5), torch.randn(5)
    on_xpu = x.xpu(), y.xpu()
    check(torch.compile(function)(*on_xpu), function(x, y))
    check(on_xpu[0], x)
    check(on_xpu[1], y)


def test_two_devices_in_one_graph():
    x, y = torch.randn(5), torch.randn(5)
    results = torch.compile(lambda x, y: (x + 1, y * 2, x.to("xpu") + y))(x, y.xpu())
    for got, expected in zip(results, (x + 1, y * 2, x + y), strict=True):
        check(got, expected)
    assert results[0].device.type == "cpu"


@pytest.mark.parametrize("scale", [torch.tensor(3.0), torch.tensor(3, dtype=torch.int64), 2.5, 7])
def test_numbers_and_tensors_of_the_host_with_one_element(scale):
    function = torch.compile(lambda x, s: x * s + s)
    x = torch.randn(5)
    for by in (1, 2, 3):
        check(function(x.xpu(), scale * by), x * (scale * by) + scale * by)


@pytest.mark.parametrize("dynamic", [False, True])
def test_no_elements(dynamic):
    def function(x):
        return x + 1, x.sum(0), x.sum(), x.sum(1)

    compiled = torch.compile(function, dynamic=dynamic)
    for shape in ((4, 3), (5, 4), (0, 3), (3, 0), (0, 0)):
        for got, expected in zip(
            compiled(torch.ones(shape, device="xpu")), function(torch.ones(shape)), strict=True
        ):
            check(got, expected)


DTYPES = "float64 float16 bfloat16 int8 uint8 int16 int32 int64 bool"


@pytest.mark.parametrize(
    "dtype",
    [pytest.param(d, marks=[pytest.mark.fp64] * (d == "float64")) for d in DTYPES.split()],
)
def test_element_types(dtype):
    def function(x):
        return x.sum(), x * x, x.max(), x.to(torch.float32) + 1, x.to(torch.bool), -x.float()

    compare(function, torch.randint(0, 3, (40,)).to(getattr(torch, dtype)))


@pytest.mark.filterwarnings("ignore:Torchinductor does not support code generation for complex")
def test_complex_numbers_and_minifloats():
    compare(lambda x: (x * x).abs() + x.real, torch.randn(5, dtype=torch.complex64))
    compare(lambda x: x.to(torch.float8_e4m3fn).float() * 2, torch.randn(50))


@pytest.mark.parametrize("dynamic", [False, True])
def test_thirteen_dimensions(dynamic):
    def function(x):
        return (x.transpose(0, 12) + x.permute(*reversed(range(13)))).sum((1, 5, 9)).softmax(0)

    compare(function, torch.randn(*[2] * 13), dynamic=dynamic)


def test_inputs_that_share_memory():
    def function(x, y):
        x.mul_(2)
        return x + y

    whole = torch.randn(50)
    on_xpu = whole.xpu()
    got = torch.compile(function)(on_xpu[:40], on_xpu[10:])
    check(got, function(whole[:40], whole[10:]))
    check(on_xpu, whole)


def test_many_arguments():
    def function(*inputs):
        return (*(x * 2 + y for x, y in itertools.pairwise(inputs)), sum(inputs))

    compare(function, *(torch.randn(50) for _ in range(60)))
