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


FLOATS_16 = [torch.float16, torch.bfloat16]
OTHERS = [
    torch.bool, torch.uint8, torch.int8, torch.int16, torch.int32, torch.int64,
    torch.float16, torch.bfloat16, torch.float32, torch.float64,
]  # fmt: skip
RELATIONS = ["eq", "ne", "lt", "le", "gt", "ge"]
# What f16 and bf16 round, or not; pairs of neighbours in the integers and in either type.
NUMBERS = [0.0, 1.0, -3.0, 255.0, 256.0, 257.0, 258.0, 2047.0, 2048.0, 2049.0, 2050.0, 2051.0, 65504.0,
           65519.0, 65520.0, 1e5, -2049.0, 1.0009765625, 1.00048828125, 1.001, 3e-8, -1e-7]  # fmt: skip


def numbers_of(dtype):
    if dtype.is_floating_point:
        return torch.tensor(NUMBERS, dtype=torch.float64).to(dtype)
    if dtype == torch.bool:
        return torch.tensor([x != 0 for x in NUMBERS])
    info = torch.iinfo(dtype)
    return torch.tensor([int(min(max(x, info.min), info.max)) for x in NUMBERS]).to(dtype)


# Every relation of the types that round most; one relation of all pairs, in both orders.
PAIRS = [
    *((name, a, b) for name in RELATIONS for a in FLOATS_16 for b in (torch.int32, torch.float32)),
    *(("lt", a, b) for a in OTHERS for b in OTHERS if {a, b} & set(FLOATS_16)),
    *(("eq", a, b) for a in (torch.float32, torch.int64) for b in OTHERS),
]


@pytest.mark.values
@pytest.mark.parametrize(("relation", "dtype", "other"), PAIRS, ids=str)
def test_comparisons_round_to_the_common_type(relation, dtype, other):
    compare = getattr(torch, relation)
    a, b = numbers_of(dtype)[:, None], numbers_of(other)
    assert torch.equal(compare(a.to("xpu"), b.to("xpu")).cpu(), compare(a, b))


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS_16, ids=str)
def test_comparisons_in_place_round_to_the_common_type(dtype):
    x, y = numbers_of(dtype), numbers_of(torch.int32)
    assert torch.equal(x.to("xpu").eq_(y.to("xpu")).cpu(), x.clone().eq_(y))


@pytest.mark.values
@pytest.mark.parametrize("relation", RELATIONS)
@pytest.mark.parametrize("dtype", FLOATS_16, ids=str)
def test_comparisons_with_numbers_round_to_the_type(dtype, relation):
    compare = getattr(torch, relation)
    x = numbers_of(dtype)
    for number in [*NUMBERS, *(int(v) for v in NUMBERS)]:
        assert torch.equal(compare(x.to("xpu"), number).cpu(), compare(x, number)), number
        zero_dim = torch.tensor(
            number, dtype=torch.int64 if isinstance(number, int) else torch.float64
        )
        expected = compare(x, zero_dim)
        for scalar in (zero_dim, zero_dim.to("xpu")):
            assert torch.equal(compare(x.to("xpu"), scalar).cpu(), expected), number
            swapped = compare(scalar, x.to("xpu"))
            assert torch.equal(swapped.cpu(), compare(zero_dim, x)), number
