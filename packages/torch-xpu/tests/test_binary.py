"""Functions of two tensors of different kinds, beside the CPU."""

import pytest
import torch

EXPONENTS = [torch.int8, torch.int32, torch.int64]


@pytest.mark.values
@pytest.mark.parametrize("exponent", EXPONENTS, ids=str)
@pytest.mark.parametrize(
    "dtype", [torch.float32, torch.float64, torch.float16, torch.bfloat16, torch.int64], ids=str
)
def test_ldexp(dtype, exponent):
    x = torch.tensor([1.0, -0.0, float("inf"), float("nan"), 3e-40, 1e30, 1.5, -2.5])
    x = torch.arange(8) if dtype == torch.int64 else x.to(dtype)
    powers = torch.tensor([100, 3, -5, 2, 127, -128, 1, -3]).to(exponent)
    torch.testing.assert_close(
        torch.ldexp(x.to("xpu"), powers.to("xpu")).cpu(),
        torch.ldexp(x, powers),
        rtol=0,
        atol=0,
        equal_nan=True,
    )


@pytest.mark.values
def test_ldexp_in_place_and_into():
    x, powers = torch.tensor([1.5, -2.0, 3.0]), torch.tensor([2, -1, 3])
    expected = torch.tensor([6.0, -1.0, 24.0])
    out = torch.empty(3, device="xpu")
    torch.ldexp(x.to("xpu"), powers.to("xpu"), out=out)
    assert torch.equal(out.cpu(), expected)
    assert torch.equal(x.to("xpu").ldexp_(powers.to("xpu")).cpu(), expected)


@pytest.mark.values
def test_ldexp_of_exponents_that_are_floats():
    x, powers = torch.tensor([1.5, -2.0]), torch.tensor([0.5, 2.0])
    got = torch.ldexp(x.to("xpu"), powers.to("xpu")).cpu()
    torch.testing.assert_close(got, torch.ldexp(x, powers))


def test_hardtanh_refuses_negative_limits_of_unsigned():
    with pytest.raises(RuntimeError, match="unsigned type with negative limits"):
        torch.nn.functional.hardtanh(torch.ones(2, dtype=torch.uint8, device="xpu"))
