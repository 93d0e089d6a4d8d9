"""Scalars that a launch computes: of the host, real expressions of sizes, and those of element types."""

import pytest
import torch
import torch.nn.functional as F

from inductor_xpu import loader

pytestmark = [
    pytest.mark.usefixtures("forget_compiled_code"),
    pytest.mark.values,
    # What Inductor imports warns about itself.
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]


HOST_SCALARS = (
    torch.tensor(2.5),
    torch.tensor(2.1, dtype=torch.float64),
    torch.tensor(-7),
    torch.tensor(2**40 + 1),
    torch.tensor(True),
)


@pytest.mark.parametrize("scalar", HOST_SCALARS, ids=str)
def test_a_tensor_of_the_host_without_dimensions(scalar):
    x = torch.arange(20)
    compiled = torch.compile(lambda x, scalar: x * scalar)
    expected = x * scalar
    torch.testing.assert_close(compiled(x.to("xpu"), scalar).cpu(), expected)


@pytest.mark.parametrize("dtype", [torch.float32, torch.float64])
def test_a_number_of_python_that_changes(dtype):
    x = torch.randn(50).to(dtype)
    compiled = torch.compile(lambda x, factor: x * factor, dynamic=True)
    for factor in (1.5, 2.5, 1e300):
        torch.testing.assert_close(compiled(x.to("xpu"), factor).cpu(), x * factor)


def test_a_quotient_of_sizes():
    compiled = torch.compile(lambda x: x + x.size(0) / 3, dynamic=True)
    for rows in (7, 9, 33):
        x = torch.randn(rows, 5)
        torch.testing.assert_close(compiled(x.to("xpu")).cpu(), x + rows / 3)


@pytest.mark.parametrize("dynamic", [False, True])
def test_positions_that_would_be_negative(dynamic):
    compiled = torch.compile(lambda x: F.pad(x, (3, 4), mode="reflect") * 2, dynamic=dynamic)
    for columns in (6, 9):
        x = torch.randn(3, columns)
        torch.testing.assert_close(
            compiled(x.to("xpu")).cpu(), F.pad(x, (3, 4), mode="reflect") * 2
        )


@pytest.mark.parametrize("value", [0.0, 2.5, -1.25e-40, 3e38, float("inf")])
def test_bits_of_floats(value):
    expected = torch.tensor(value).view(torch.int32).item()
    assert loader.float_bits(value) == expected
    expected = torch.tensor(value, dtype=torch.float64).view(torch.int64).item()
    assert loader.double_bits(value) == expected


def test_bits_of_what_f32_cannot_hold():
    assert loader.float_bits(1e300) == loader.float_bits(float("inf"))


def test_mantissas_and_exponents():
    x = torch.tensor([0.0, -0.0, 1.0, -6.5, 1e-45, 3e38, float("inf"), float("nan")])
    mantissa, exponent = torch.compile(torch.frexp)(x.to("xpu"))
    expected = torch.frexp(x)
    torch.testing.assert_close(mantissa.cpu(), expected.mantissa, rtol=0, atol=0, equal_nan=True)
    assert exponent.tolist()[:6] == expected.exponent.tolist()[:6]


MINIFLOATS = (
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2fnuz,
)


@pytest.mark.parametrize("dtype", MINIFLOATS, ids=str)
def test_minifloats(dtype):
    x = torch.linspace(-3, 3, 200)
    narrow = torch.compile(lambda x: (x * 3).to(dtype))(x.to("xpu"))
    expected = (x * 3).to(dtype)
    assert torch.equal(narrow.cpu().view(torch.uint8), expected.view(torch.uint8))
    wide = torch.compile(lambda x: x.float() * 2)(narrow)
    torch.testing.assert_close(wide.cpu(), expected.float() * 2)
    bits = torch.compile(lambda x: x.view(torch.uint8) + 1)(narrow)
    assert torch.equal(bits.cpu(), expected.view(torch.uint8) + 1)
