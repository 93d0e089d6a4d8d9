"""torch_xpu.round_blocks: what block formats keep of floats; and products with a factor of all."""

import pytest
import torch

round_blocks = torch.ops.torch_xpu.round_blocks
linear = torch.ops.torch_xpu.low_bit_linear

# The largest number, its exponent, the bits of the mantissa, the exponent of the smallest normal number.
ELEMENTS = {"e2m1": (6.0, 2, 1, 0), "e4m3": (448.0, 8, 3, -6), "e5m2": (57344.0, 15, 2, -14)}
POWERS = ("rceil", "floor", "ceil", "even")


def rounded(x, format):
    """Return the nearest numbers of the format, to even in a tie."""
    largest, _, mantissa, smallest = ELEMENTS[format]
    _, exponent = torch.frexp(x.abs().clamp(min=2.0**-60))
    step = torch.exp2((exponent.double() - 1).clamp(min=smallest) - mantissa)
    return ((x / step).round() * step).clamp(-largest, largest)


def scale_of_power(block, format, scaling):
    largest, largest_exponent, mantissa, _ = ELEMENTS[format]
    top = block.abs().amax(-1, True)
    if scaling == "rceil":
        ratio, exponent = torch.frexp((top / largest).float().double())
        power = exponent.double() - (ratio == 0.5).double()
    else:
        if scaling == "even":
            fraction, exponent = torch.frexp(top)
            top = torch.ldexp(
                torch.where(fraction >= 1 - 2.0 ** -(mantissa + 2), 1.0, fraction), exponent
            )
        fraction, exponent = torch.frexp(top)
        power = exponent.double() - 1 - largest_exponent
        power += (fraction != 0.5).double() if scaling == "ceil" else 0
    return torch.exp2(power.clamp(-127, 127))


def expected_of(x, block, format, scaling, factor=1.0):
    blocks = x.double().unflatten(-1, (-1, block))
    if scaling == "e4m3":
        scale = (blocks.abs().amax(-1, True) / ELEMENTS[format][0] / factor).clamp(2**-6, 448)
        scale = scale.float().to(torch.float8_e4m3fn).double()
    else:
        scale = scale_of_power(blocks, format, scaling)
    return (rounded(blocks / (scale * factor), format) * scale).reshape(x.shape)


def sample(*shape, dtype=torch.float32):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(*shape, generator=generator) * torch.exp2(
        torch.randint(-20, 20, (shape[0], 1), generator=generator)
    )
    return x.to(dtype)


@pytest.mark.values
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
@pytest.mark.parametrize("scaling", POWERS)
@pytest.mark.parametrize("format", ELEMENTS)
def test_powers_of_two(format, scaling, dtype):
    x = sample(64, 160, dtype=dtype)
    x[3, :32] = 0
    x[4, :] = torch.exp2(torch.arange(160) % 9.0)
    got = round_blocks(x.xpu(), 32, format, scaling)
    assert (got.dtype, got.shape, got.is_contiguous()) == (dtype, x.shape, True)
    # A block of zeros has no logarithm.
    expected = torch.where(x == 0, 0.0, expected_of(x, 32, format, scaling))
    torch.testing.assert_close(got.cpu().double(), expected, rtol=0, atol=0)


@pytest.mark.values
@pytest.mark.parametrize("factor", [None, 0.25, 0.003])
@pytest.mark.parametrize("dtype", [torch.float32, torch.bfloat16])
def test_scales_of_eight_bits(dtype, factor):
    x = sample(32, 64, dtype=dtype)
    given = () if factor is None else (torch.tensor(factor).xpu(),)
    got = round_blocks(x.xpu(), 16, "e2m1", "e4m3", *given).cpu().double()
    expected = expected_of(x, 16, "e2m1", "e4m3", torch.tensor(factor or 1.0).double())
    # A number within a rounding of the middle between two may become either.
    differs = got != expected
    assert differs.double().mean() < 2e-3
    assert (got - expected).abs().max() <= expected.abs().max() / 3


@pytest.mark.values
@pytest.mark.parametrize("scaling", [*POWERS, "e4m3"])
def test_numbers_that_are_none(scaling):
    x = torch.ones(4, 64)
    x[1, 3], x[2, 40] = float("nan"), float("inf")
    got = round_blocks(x.xpu(), 32, "e2m1", scaling).cpu()
    assert got[1, :32].isnan().all()
    assert not got[1, 32:].isnan().any()
    assert not got[0].isnan().any()
    assert got[2, 40] > 1e3
    assert torch.equal(got[2, :32], got[0, :32])


@pytest.mark.values
def test_a_factor_of_zero_gives_zeros():
    got = round_blocks(torch.zeros(2, 32).xpu(), 16, "e2m1", "e4m3", torch.zeros(()).xpu())
    assert torch.equal(got.cpu(), torch.zeros(2, 32))


@pytest.mark.values
def test_shapes_and_strides():
    x = sample(6, 64).xpu()
    expected = round_blocks(x, 32, "e4m3", "rceil")
    transposed = x.t().contiguous().t()
    assert torch.equal(round_blocks(transposed, 32, "e4m3", "rceil"), expected)
    assert torch.equal(round_blocks(x.view(2, 3, 64), 32, "e4m3", "rceil").view(6, 64), expected)
    assert torch.equal(round_blocks(x[0], 32, "e4m3", "rceil"), expected[0])
    assert round_blocks(x[:0], 32, "e4m3", "rceil").shape == (0, 64)


def test_wrong_arguments():
    x = torch.ones(2, 64, device="xpu")
    with pytest.raises(ValueError, match="no rows of blocks of 48"):
        round_blocks(x, 48, "e4m3", "rceil")
    with pytest.raises(ValueError, match="got 'e3m2', expected one of uint8, int8"):
        round_blocks(x, 32, "e3m2", "rceil")
    with pytest.raises(ValueError, match="got 'int4', expected a format of floats"):
        round_blocks(x, 32, "int4", "rceil")
    with pytest.raises(ValueError, match="got 'up', expected e4m3, rceil"):
        round_blocks(x, 32, "e4m3", "up")
    with pytest.raises(TypeError, match="expected float32 or bfloat16"):
        round_blocks(x.half(), 32, "e4m3", "rceil")
    with pytest.raises(ValueError, match="none with scales of powers of two"):
        round_blocks(x, 32, "e4m3", "rceil", torch.ones((), device="xpu"))
    with pytest.raises(RuntimeError, match="same device"):
        round_blocks(x, 16, "e2m1", "e4m3", torch.ones(1))


@pytest.mark.values
@pytest.mark.parametrize("rows", [1, 5, 40])
@pytest.mark.parametrize("with_bias", [False, True])
def test_a_factor_multiplies_products_before_the_bias(rows, with_bias):
    generator = torch.Generator().manual_seed(0)
    x = torch.randn(rows, 64, generator=generator)
    weight = torch.randint(-128, 128, (24, 64), dtype=torch.int8, generator=generator)
    bias, factor = torch.randn(24, generator=generator), torch.tensor(0.37)
    expected = 0.37 * (x.double() @ weight.double().t()) + (bias.double() if with_bias else 0)
    x = x.xpu().requires_grad_()
    given = bias.xpu() if with_bias else None
    got = linear(x, weight.xpu(), "int8", None, None, None, given, factor.xpu())
    torch.testing.assert_close(got.cpu().double(), expected, rtol=1e-4, atol=1e-2)
    got.sum().backward()
    gradient = 0.37 * weight.double().sum(0).expand(rows, 64)
    torch.testing.assert_close(x.grad.cpu().double(), gradient, rtol=1e-4, atol=1e-2)


def test_a_factor_is_one_number_without_gradient():
    x, weight = torch.ones(2, 64).xpu(), torch.ones(8, 64, dtype=torch.int8).xpu()
    with pytest.raises(ValueError, match="factor: expected one number"):
        linear(x, weight, "int8", None, None, None, None, torch.ones(2).xpu())
    with pytest.raises(NotImplementedError, match="no gradients"):
        linear(x, weight, "int8", None, None, None, None, torch.ones(1).xpu().requires_grad_())
