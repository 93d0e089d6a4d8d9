"""Floats of a byte, and pairs of float4: conversions, and what can be done with them, beside the CPU."""

import pytest
import torch

E8M0 = torch.float8_e8m0fnu
SMALL = [
    torch.float8_e4m3fn,
    torch.float8_e5m2,
    torch.float8_e4m3fnuz,
    torch.float8_e5m2fnuz,
    E8M0,
]


def every(dtype):
    return torch.arange(256, dtype=torch.uint8).view(dtype)


def every_exponent():
    return every(E8M0)


def edges(dtype):
    """Floats at, just below and just above each number of the dtype and each middle between two."""
    numbers = every(dtype).to(torch.float64)
    numbers = numbers[numbers.isfinite()].unique()
    points = torch.cat([numbers, (numbers[1:] + numbers[:-1]) / 2, numbers * 1.0625, numbers * 2])
    bits = points.float().view(torch.int32)
    around = torch.cat([bits, bits + 1, bits - 1]).view(torch.float32)
    others = torch.tensor([0.0, -0.0, 465, 1e4, 1e38, 1e-45, torch.inf, -torch.inf, torch.nan])
    return torch.cat([around, others])


def bits_of(t):
    # Of NaN, which has several patterns, any one.
    return torch.where(t.float().isnan(), 0x7F, t.view(torch.uint8))


def check(function, *tensors):
    got, expected = function(*(t.to("xpu") for t in tensors)).cpu(), function(*tensors)
    assert got.dtype == expected.dtype
    assert got.shape == expected.shape
    small = got.dtype in SMALL
    one, other = (bits_of(t) if small else t for t in (got, expected))
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


@pytest.mark.values
@pytest.mark.parametrize("small", SMALL, ids=str)
def test_every_number_widened(small):
    for dtype in (torch.float32, torch.float16, torch.bfloat16, torch.float64):
        check(lambda t, dtype=dtype: t.to(dtype), every(small))


@pytest.mark.values
@pytest.mark.parametrize("small", SMALL, ids=str)
@pytest.mark.parametrize("dtype", [torch.float16, torch.bfloat16], ids=str)
def test_every_16_bit_number_rounded(small, dtype):
    check(lambda t: t.to(small), torch.arange(2**16).to(torch.uint16).view(dtype))


@pytest.mark.values
@pytest.mark.parametrize("small", SMALL, ids=str)
def test_edges_rounded(small):
    check(lambda t: t.to(small), edges(small))
    check(lambda t: t.to(small), edges(small).double())
    check(lambda t: t.to(small), torch.arange(-600, 600))
    for other in SMALL:
        check(lambda t: t.to(small), every(other))


def transposed(t):
    """The numbers in another order, by what stock PyTorch has for these types."""
    return t.view(16, 16).t().reshape(-1)


OPERATIONS = {
    "eq": lambda t: t == transposed(t),
    "eq_number": lambda t: t == 1.0,
    "ne": lambda t: t != transposed(t),
    "equal": lambda t: torch.tensor(
        [torch.equal(t, t.clone()), torch.equal(t[:100], t[:100].clone())]
    ),
    "isnan": lambda t: t.isnan(),
    "any": lambda t: torch.stack([t.any(), t[:1].any()]),
    "all": lambda t: t.view(16, 16).all(1),
    "multiply": lambda t: t * transposed(t),
    "where": lambda t: torch.where(t.isnan(), transposed(t), t),
    "index": lambda t: t[torch.tensor([3, 200], device=t.device)],
    "mask": lambda t: t[~t.isnan()],
    "index_select": lambda t: t.view(16, 16).index_select(1, torch.tensor([3, 5], device=t.device)),
    "embedding": lambda t: torch.nn.functional.embedding(
        torch.tensor([3, 5], device=t.device), t.view(16, 16)
    ),
    "fill": lambda t: torch.full_like(t, 2.0),
    "pad": lambda t: torch.nn.functional.pad(t, (1, 2)),
    "set": lambda t: t.clone().index_put_((torch.tensor([1, 3], device=t.device),), t[:2]),
}


@pytest.mark.values
@pytest.mark.parametrize("operation", OPERATIONS)
@pytest.mark.parametrize("small", SMALL, ids=str)
def test_operations(small, operation):
    try:
        OPERATIONS[operation](every(small))
    except RuntimeError as why:
        pytest.skip(f"PyTorch itself: {why}")
    check(OPERATIONS[operation], every(small))


@pytest.mark.values
def test_printed():
    for small in SMALL:
        numbers = every(small)[100:103]
        shown, expected = ("".join(repr(t).split()) for t in (numbers.to("xpu"), numbers))
        assert shown.replace("device='xpu:0',", "") == expected


FLOAT4 = torch.float4_e2m1fn_x2
FLOAT4_OPERATIONS = {
    "empty": lambda t: torch.empty_like(t).view(torch.uint8).zero_(),
    "zeros": lambda t: torch.zeros(3, 5, dtype=FLOAT4, device=t.device),
    "zeros_like": lambda t: torch.zeros_like(t),
    "zero_": lambda t: t.clone().zero_(),
    "clone": lambda t: t.t().clone(),
    "contiguous": lambda t: t.t().contiguous(),
    "copy_": lambda t: torch.zeros_like(t).copy_(t.t()),
    "from_host": lambda t: torch.zeros_like(t).copy_(t.cpu()),
    "view": lambda t: t.view(torch.uint8).view(FLOAT4).view(-1),
    "slice": lambda t: t[1:7:2, 3:],
    "select": lambda t: t[3],
    "cat": lambda t: torch.cat([t, t[:3]]),
    "stack": lambda t: torch.stack([t, t]),
    "chunk": lambda t: t.chunk(3, 1)[1],
    "expand": lambda t: t[:1].expand(4, 16).contiguous(),
    "repeat": lambda t: t.repeat(2, 1),
    "roll": lambda t: t.roll(1, 0),
    "eq": lambda t: t == t.t(),
    "ne": lambda t: t != t[:1],
    "isnan": lambda t: t.isnan(),
    "where": lambda t: torch.where(t == t.t(), t, t[:1]),
    "setitem": lambda t: t.clone().narrow(0, 2, 2).copy_(t[4:6]),
}
FLOAT4_REFUSED = {
    "to": lambda t: t.to(torch.float32),
    "from": lambda t: torch.ones(2, device=t.device).to(FLOAT4),
    "fill": lambda t: torch.ones_like(t),
    "add": lambda t: t + t,
    "less": lambda t: t < t,
    "number": lambda t: t == 1.0,
    "sum": lambda t: t.sum(),
}


def pairs():
    return torch.arange(256, dtype=torch.uint8).view(16, 16).view(FLOAT4)


@pytest.mark.values
@pytest.mark.parametrize("operation", FLOAT4_OPERATIONS)
def test_float4(operation):
    got, expected = (FLOAT4_OPERATIONS[operation](pairs().to(device)) for device in ("xpu", "cpu"))
    assert got.device.type == "xpu"
    assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
    got, expected = (t.view(torch.uint8) if t.dtype == FLOAT4 else t for t in (got.cpu(), expected))
    assert torch.equal(got, expected)


@pytest.mark.parametrize("operation", FLOAT4_REFUSED)
def test_float4_is_not_arithmetic(operation):
    for device in ("cpu", "xpu"):
        with pytest.raises((NotImplementedError, RuntimeError)):
            FLOAT4_REFUSED[operation](pairs().to(device))
