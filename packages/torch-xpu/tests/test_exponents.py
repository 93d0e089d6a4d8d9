"""float8_e8m0fnu, the exponents that scale blocks of small floats: conversions and moves beside the CPU."""

import pytest
import torch

E8M0 = torch.float8_e8m0fnu


def every_exponent():
    return torch.arange(256, dtype=torch.uint8).view(E8M0)


def check(function, *tensors):
    got, expected = function(*(t.to("xpu") for t in tensors)).cpu(), function(*tensors)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    same = got.dtype == E8M0
    one, other = (t.view(torch.uint8) if same else t for t in (got, expected))
    torch.testing.assert_close(one, other, rtol=0, atol=0, equal_nan=True)


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16, torch.float64], ids=str)
def test_widened(dtype):
    check(lambda t: t.to(dtype), every_exponent())
    check(lambda t: t.view(16, 16).t().to(dtype), every_exponent())


@pytest.mark.values
def test_rounded():
    bits = torch.cat([torch.arange(0, 2**31, 2**19 + 1), torch.arange(0, 2**31, 2**22)]).int()
    numbers = bits.view(torch.float32)
    check(lambda t: t.to(E8M0), numbers)
    check(lambda t: t.to(E8M0), -numbers)
    check(lambda t: t.to(E8M0), torch.rand(33).bfloat16())
    check(lambda t: t.to(E8M0), torch.rand(33, dtype=torch.float64))


@pytest.mark.values
def test_moved():
    check(lambda t: t.view(4, 64).t().contiguous(), every_exponent())
    check(lambda t: torch.cat([t, t[:9]]), every_exponent())
    check(lambda t: torch.empty_like(t).copy_(t), every_exponent())
    check(lambda t: torch.full_like(t, 0.25), every_exponent())
    assert every_exponent().to("xpu")[130].item() == 8
