"""Products of four-bit floats, two in a byte, with scales of blocks: mxfp4 and nvfp4."""

import pytest
import torch
import torch.nn.functional as F
from torch.nn.functional import ScalingType, SwizzleType

PAIRS, E8M0, E4M3 = torch.float4_e2m1fn_x2, torch.float8_e8m0fnu, torch.float8_e4m3fn
VALUES = torch.tensor([0, 0.5, 1, 1.5, 2, 3, 4, 6], dtype=torch.float64)
VALUES = torch.cat([VALUES, -VALUES])
BLOCKS = {E8M0: 32, E4M3: 16}
RECIPES = {E8M0: ScalingType.BlockWise1x32, E4M3: ScalingType.BlockWise1x16}


def operand(rows, length, scale_type, seed=0):
    """Return packed numbers [rows, length / 2], scales [rows, blocks], and what they mean in float64."""
    generator = torch.Generator().manual_seed(seed + rows * length)
    codes = torch.randint(0, 16, (rows, length), generator=generator, dtype=torch.uint8)
    packed = (codes[:, ::2] | codes[:, 1::2] << 4).view(PAIRS)
    blocks = length // BLOCKS[scale_type]
    exponents = torch.randint(-3, 4, (rows, blocks), generator=generator).float()
    scales = torch.exp2(exponents)
    if scale_type == E4M3:
        scales = scales * torch.tensor([1, 1.125, 1.75]).repeat(rows * blocks)[
            : rows * blocks
        ].view(rows, blocks)
    scales = scales.to(scale_type)
    spread = scales.float().double().repeat_interleave(BLOCKS[scale_type], 1)
    return packed, scales, VALUES[codes.long()] * spread


def swizzled(scales):
    """Return scales in tiles of 128 by 4, in which rows that are 32 apart are neighbours, with padding."""
    rows, columns = scales.shape
    bytes = scales.view(torch.uint8)
    padded = F.pad(bytes, (0, -columns % 4, 0, -rows % 128))
    tiles = padded.view(padded.shape[0] // 128, 4, 32, padded.shape[1] // 4, 4)
    return tiles.permute(0, 3, 2, 1, 4).contiguous().flatten().view(scales.dtype)


def check(got, expected):
    tolerance = 2e-5 if got.dtype == torch.float32 else torch.finfo(got.dtype).eps
    size = expected.abs().max().item()
    torch.testing.assert_close(got.cpu().double(), expected, rtol=tolerance, atol=tolerance * size)


@pytest.mark.values
@pytest.mark.parametrize("scale_type", [E8M0, E4M3], ids=str)
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
@pytest.mark.parametrize(
    ("m", "n", "k"), [(1, 48, 256), (5, 16, 64), (33, 80, 160), (130, 144, 512)]
)
def test_swizzled_scales(m, n, k, dtype, scale_type):
    a, scale_a, left = operand(m, k, scale_type)
    b, scale_b, right = operand(n, k, scale_type, 1)
    scales = [swizzled(scale).xpu() for scale in (scale_a, scale_b)]
    expected = left @ right.t()
    got = torch._scaled_mm(a.xpu(), b.xpu().t(), *scales, out_dtype=dtype)
    check(got, expected)
    recipe, swizzle = RECIPES[scale_type], SwizzleType.SWIZZLE_32_4_4
    got = F.scaled_mm(
        *(a.xpu(), b.xpu().t(), scales[0], recipe, scales[1], recipe),
        swizzle_a=swizzle,
        swizzle_b=swizzle,
        output_dtype=dtype,
    )
    check(got, expected)


@pytest.mark.values
@pytest.mark.parametrize("scale_type", [E8M0, E4M3], ids=str)
def test_plain_scales(scale_type):
    a, scale_a, left = operand(7, 128, scale_type)
    b, scale_b, right = operand(32, 128, scale_type, 1)
    recipe = RECIPES[scale_type]
    operands = a.xpu(), b.xpu().t(), scale_a.xpu(), recipe, scale_b.xpu(), recipe
    check(F.scaled_mm(*operands, output_dtype=torch.float32), left @ right.t())


@pytest.mark.values
@pytest.mark.parametrize("with_bias", [False, True])
def test_scales_of_all_numbers(with_bias):
    a, scale_a, left = operand(3, 64, E4M3)
    b, scale_b, right = operand(32, 64, E4M3, 1)
    factors = torch.tensor(0.375), torch.tensor(3.0)
    bias = torch.randn(32, generator=torch.Generator().manual_seed(0))
    recipes = [ScalingType.BlockWise1x16, ScalingType.TensorWise]
    got = F.scaled_mm(
        *(a.xpu(), b.xpu().t(), [scale_a.xpu(), factors[0].xpu()], recipes),
        *([scale_b.xpu(), factors[1].xpu()], recipes),
        bias=bias.xpu() if with_bias else None,
        output_dtype=torch.float32,
    )
    expected = left @ right.t() * 1.125
    check(got, expected + bias.double() if with_bias else expected)


def test_refusals():
    a, scale, _ = (t.xpu() for t in operand(16, 64, E8M0))
    with pytest.raises(RuntimeError, match="Invalid scaling configuration"):
        torch._scaled_mm(a, a.t(), scale[:, :1], scale, out_dtype=torch.bfloat16)
    eights = torch.zeros(16, 32, device="xpu", dtype=E4M3)
    with pytest.raises((RuntimeError, ValueError), match="Invalid scaling configuration"):
        torch._scaled_mm(a, eights.t(), scale, scale, out_dtype=torch.bfloat16)
    recipe = ScalingType.BlockWise1x32
    with pytest.raises(ValueError, match="one scale and one recipe"):
        F.scaled_mm(a, a.t(), [scale, scale], [recipe, recipe], scale, recipe)
