"""Products of quantised matrices: int8, int4 and float8 operands beside float64 ones."""

import pytest
import torch
from torch.nn.functional import ScalingType, SwizzleType

FP8 = [torch.float8_e4m3fn, torch.float8_e5m2]
FLOATS = [torch.float32, torch.bfloat16, torch.float16]


@pytest.fixture(autouse=True)
def seed():
    torch.manual_seed(0)


def check(got, expected, dtype=None):
    """Numbers of the result's own precision, relative to the largest: sums cancel."""
    assert got.device.type == "xpu"
    assert dtype is None or got.dtype == dtype
    eps = torch.finfo(got.dtype).eps
    assert got.shape == expected.shape
    if got.numel():
        error = (got.cpu().double() - expected).abs().max()
        assert error <= max(2 * eps, 1e-5) * expected.abs().max().clamp_min(1e-3)


# What int8 matrices multiply to.


@pytest.mark.values
@pytest.mark.parametrize(
    ("m", "k", "n"), [(1, 64, 32), (33, 48, 24), (5, 7, 3), (0, 8, 8), (4, 0, 8)]
)
def test_int_mm(m, k, n):
    a, b = (torch.randint(-128, 128, s, dtype=torch.int8) for s in ((m, k), (n, k)))
    expected = (a.double() @ b.double().t()).int()
    ours = a.to("xpu"), b.to("xpu")
    assert torch.equal(torch._int_mm(ours[0], ours[1].t()).cpu(), expected)
    assert torch.equal(torch._int_mm(ours[0], ours[1].t().contiguous()).cpu(), expected)
    assert torch.equal(torch._int_mm(ours[0].t().contiguous().t(), ours[1].t()).cpu(), expected)
    out = torch.empty(0, dtype=torch.int32, device="xpu")
    assert torch.equal(torch._int_mm(ours[0], ours[1].t(), out=out).cpu(), expected)


def test_int_mm_refusals():
    a = torch.ones(4, 8, dtype=torch.int8, device="xpu")
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch._int_mm(a, a)
    with pytest.raises(RuntimeError, match="int8"):
        torch._int_mm(a.int(), a.t())
    with pytest.raises(RuntimeError, match="dtype"):
        torch._int_mm(a, a.t(), out=torch.empty(4, 4, device="xpu"))


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(
    ("m", "k", "n"), [(1, 64, 32), (33, 48, 24), (2, 19, 5), (0, 8, 8), (4, 0, 8)]
)
def test_weights_of_eight_bits(m, k, n, dtype):
    a, b = torch.randn(m, k).to(dtype), torch.randint(-128, 128, (n, k), dtype=torch.int8)
    scale = (torch.rand(n) / 50 + 0.01).to(dtype)
    got = torch._weight_int8pack_mm(a.to("xpu"), b.to("xpu"), scale.to("xpu"))
    check(got, a.double() @ b.double().t() * scale.double(), dtype)


# Four bits: numbers in groups along the rows.


def pack(numbers):
    """Two to a byte, the first one low, and as words."""
    pairs = numbers.to(torch.uint8).unflatten(1, (-1, 2))
    return torch._convert_weight_to_int4pack((pairs[..., 0] | pairs[..., 1] << 4).to("xpu"), 8)


def grouped(t, group):
    return t.double().t().repeat_interleave(group, 1)


INT4 = [(1, 128, 32, 32), (33, 256, 24, 128), (7, 96, 40, 32), (3, 64, 16, 64), (0, 64, 8, 32)]


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("m", "k", "n", "group"), INT4)
def test_weights_of_four_bits_and_integer_zeros(m, k, n, group, dtype):
    a, w = torch.randn(m, k).to(dtype), torch.randint(0, 16, (n, k))
    scales = (torch.rand(k // group, n) / 10 + 0.01).to(dtype)
    zeros = torch.randint(0, 16, (k // group, n), dtype=torch.int8)
    packed = pack(w)
    assert packed.shape == (n, k // 8)
    assert packed.dtype == torch.int32
    got = torch._weight_int4pack_mm_with_scales_and_zeros(
        a.to("xpu"), packed, group, scales.to("xpu"), zeros.to("xpu")
    )
    weights = (w.double() - grouped(zeros, group)) * grouped(scales, group)
    check(got, a.double() @ weights.t(), dtype)


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS, ids=str)
@pytest.mark.parametrize(("m", "k", "n", "group"), INT4)
def test_weights_of_four_bits_and_float_zeros(m, k, n, group, dtype):
    a, w = torch.randn(m, k).to(dtype), torch.randint(0, 16, (n, k))
    both = torch.stack((torch.rand(k // group, n) / 10 + 0.01, torch.randn(k // group, n)), -1)
    both = both.to(dtype)
    got = torch._weight_int4pack_mm(a.to("xpu"), pack(w), group, both.to("xpu"))
    weights = (w.double() - 8) * grouped(both[..., 0], group) + grouped(both[..., 1], group)
    check(got, a.double() @ weights.t(), dtype)


def test_weights_only_refusals():
    a = torch.ones(2, 64, device="xpu")
    packed = torch.zeros(8, 8, dtype=torch.int32, device="xpu")
    both = torch.ones(2, 8, 2, device="xpu")
    with pytest.raises(RuntimeError, match="qGroupSize"):
        torch._weight_int4pack_mm(a, packed, 24, both)
    with pytest.raises(RuntimeError, match="qScaleAndZeros"):
        torch._weight_int4pack_mm(a, packed, 64, both)
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch._weight_int4pack_mm(a[:, :32], packed, 32, both)
    with pytest.raises(RuntimeError, match="f32/f16/bf16"):
        torch._weight_int4pack_mm(a.int(), packed, 32, both)
    with pytest.raises(RuntimeError, match="zeros of int8"):
        torch._weight_int4pack_mm_with_scales_and_zeros(a, packed, 32, both[..., 0], both[..., 1])
    with pytest.raises(RuntimeError, match="uint8"):
        torch._convert_weight_to_int4pack(packed, 8)
    with pytest.raises(RuntimeError, match="innerKTiles"):
        torch._convert_weight_to_int4pack(packed.byte(), 3)
    with pytest.raises(RuntimeError, match="int8"):
        torch._weight_int8pack_mm(a, a, a[0])


# Eight-bit floats.


def operands(m, k, n, types):
    a, b = torch.randn(m, k), torch.randn(n, k)
    return a.to(types[0]), b.to(types[1]).t()


@pytest.mark.values
@pytest.mark.parametrize("types", [(FP8[0], FP8[0]), (FP8[1], FP8[0]), (FP8[1], FP8[1])], ids=str)
@pytest.mark.parametrize("out", FLOATS, ids=str)
@pytest.mark.parametrize(("m", "k", "n"), [(1, 64, 32), (33, 48, 16), (5, 208, 80)])
@pytest.mark.parametrize("rows", [False, True])
def test_scaled_mm(m, k, n, rows, out, types):
    a, b = operands(m, k, n, types)
    scales = [torch.rand(s) + 0.5 for s in (((m, 1), (1, n)) if rows else ((), (1, 1)))]
    bias = torch.randn(n).to(out)
    expected = (a.double() * scales[0]) @ (b.double() * scales[1])
    ours = [t.to("xpu") for t in (a, b, *scales)]
    assert ours[1].stride() == b.stride()
    check(torch._scaled_mm(*ours, out_dtype=out), expected, out)
    got = torch._scaled_mm(*ours, bias=bias.to("xpu"), out_dtype=out, use_fast_accum=True)
    check(got, expected + bias.double(), out)
    ours[1] = ours[1].contiguous()
    given = torch.empty(0, dtype=out, device="xpu")
    check(torch._scaled_mm(*ours, out_dtype=out, out=given), expected, out)
    check(given, expected)


@pytest.mark.values
@pytest.mark.parametrize("shape", [(0, 32, 16), (4, 0, 16), (4, 32, 0)])
def test_scaled_mm_of_nothing(shape):
    a, b = (t.to("xpu") for t in operands(*shape, (FP8[0], FP8[0])))
    one = torch.ones((), device="xpu")
    check(
        torch._scaled_mm(a, b, one, one, out_dtype=torch.float32),
        a.cpu().double() @ b.cpu().double(),
    )


@pytest.mark.values
@pytest.mark.parametrize("out", FP8, ids=str)
def test_results_of_eight_bits(out):
    a, b = operands(8, 64, 32, (FP8[0], FP8[0]))
    one, scale = torch.ones(()), torch.tensor(0.25)
    expected = (a.float() @ b.float() * scale).to(out).float()
    got = torch._scaled_mm(
        a.to("xpu"),
        b.to("xpu"),
        one.to("xpu"),
        one.to("xpu"),
        scale_result=scale.to("xpu"),
        out_dtype=out,
    )
    assert got.dtype == out
    # A sum near the middle between two numbers may fall on either side.
    torch.testing.assert_close(got.cpu().float(), expected, rtol=torch.finfo(out).eps, atol=1e-2)
    large = torch.full((16, 32), 400.0).to(FP8[0])
    got = torch._scaled_mm(
        large.to("xpu"), large.to("xpu").t(), one.to("xpu"), one.to("xpu"), out_dtype=out
    )
    assert (got.cpu().float() == torch.finfo(out).max).all()


def spread(scale, rows, columns, row_block, column_block):
    scale = scale.double().repeat_interleave(row_block, 0).repeat_interleave(column_block, 1)
    return scale[:rows, :columns]


@pytest.mark.values
@pytest.mark.parametrize(("m", "k", "n"), [(130, 256, 144), (1, 128, 16), (5, 208, 32)])
@pytest.mark.parametrize("tall", [(1, 1), (1, 128), (128, 1)], ids=str)
def test_blocks_of_128(m, k, n, tall):
    a, b = operands(m, k, n, (FP8[0], FP8[0]))
    along = -(-k // 128)
    scale_a = torch.rand(-(-m // tall[0]), along) + 0.5
    scale_b = torch.rand(-(-n // tall[1]), along) + 0.5
    expected = (a.double() * spread(scale_a, m, k, tall[0], 128)) @ (
        b.double() * spread(scale_b, n, k, tall[1], 128).t()
    )
    ours = [t.to("xpu") for t in (a, b)]
    got = torch._scaled_mm(
        *ours, scale_a.to("xpu"), scale_b.to("xpu").t(), out_dtype=torch.bfloat16
    )
    check(got, expected, torch.bfloat16)

    def recipe(scale, block):
        if block == 1:
            return scale.to("xpu"), ScalingType.BlockWise1x128
        padded = torch.nn.functional.pad(scale, (0, -along % 4))
        return padded.to("xpu").t(), ScalingType.BlockWise128x128

    (first, kind_a), (second, kind_b) = recipe(scale_a, tall[0]), recipe(scale_b, tall[1])
    got = torch.nn.functional.scaled_mm(
        *ours, first, kind_a, second, kind_b, output_dtype=torch.float32
    )
    check(got, expected, torch.float32)


def swizzled(scale):
    rows, columns = scale.shape
    padded = torch.nn.functional.pad(scale, (0, -columns % 4, 0, -rows % 128))
    tiles = padded.view(-(-rows // 128), 4, 32, -(-columns // 4), 4)
    return tiles.permute(0, 3, 2, 1, 4).flatten()


@pytest.mark.values
@pytest.mark.parametrize(("m", "k", "n"), [(130, 256, 144), (1, 64, 16), (5, 96, 32)])
def test_blocks_of_32(m, k, n):
    a, b = operands(m, k, n, (FP8[0], FP8[0]))
    powers = [torch.randint(120, 134, (rows, k // 32), dtype=torch.uint8) for rows in (m, n)]
    scales = [spread(torch.exp2(p.double() - 127), p.shape[0], k, 1, 32) for p in powers]
    expected = (a.double() * scales[0]) @ (b.double() * scales[1].t())
    ours = [t.to("xpu") for t in (a, b)]
    packed = [swizzled(p).view(torch.float8_e8m0fnu).to("xpu") for p in powers]
    check(torch._scaled_mm(*ours, *packed, out_dtype=torch.bfloat16), expected, torch.bfloat16)
    kind = ScalingType.BlockWise1x32
    got = torch.nn.functional.scaled_mm(
        *ours,
        packed[0],
        kind,
        packed[1],
        kind,
        swizzle_a=SwizzleType.SWIZZLE_32_4_4,
        swizzle_b=SwizzleType.SWIZZLE_32_4_4,
        output_dtype=torch.float32,
    )
    check(got, expected, torch.float32)


@pytest.mark.values
def test_scaled_mm_by_recipe():
    a, b = operands(9, 64, 32, (FP8[0], FP8[0]))
    rows, columns, bias = (
        torch.rand(9, 1) + 0.5,
        torch.rand(1, 32) + 0.5,
        torch.randn(32).bfloat16(),
    )
    ours = [t.to("xpu") for t in (a, b)]
    got = torch.nn.functional.scaled_mm(
        *ours,
        rows.to("xpu"),
        ScalingType.RowWise,
        columns.to("xpu"),
        ScalingType.RowWise,
        bias=bias.to("xpu"),
    )
    check(got, (a.double() * rows) @ (b.double() * columns) + bias.double(), torch.bfloat16)
    one = torch.tensor(0.5, device="xpu")
    got = torch.nn.functional.scaled_mm(
        *ours, one, ScalingType.TensorWise, one, ScalingType.TensorWise, output_dtype=torch.float16
    )
    check(got, a.double() @ b.double() / 4, torch.float16)
    with pytest.raises(ValueError, match="Invalid scaling configuration"):
        torch.nn.functional.scaled_mm(
            *ours, rows.to("xpu"), ScalingType.TensorWise, one, ScalingType.TensorWise
        )


def test_scaled_mm_refusals():
    a = torch.zeros(16, 32, device="xpu").to(FP8[0])
    one = torch.ones((), device="xpu")
    with pytest.raises(RuntimeError, match="cannot be multiplied"):
        torch._scaled_mm(a, a, one, one)
    with pytest.raises(
        RuntimeError,
        match=r"Expected trailing dimension of mat1 to be divisible by 16 but got mat1 shape: \(16x24",
    ):
        torch._scaled_mm(a[:, :24], a[:, :24].t(), one, one)
    with pytest.raises(RuntimeError, match=r"mat2 shape \(32x8\) must be divisible by 16"):
        torch._scaled_mm(a, a[:8].t(), one, one)
    with pytest.raises(RuntimeError, match="Invalid scaling configuration"):
        torch._scaled_mm(a, a.t(), one.expand(16), one)
    with pytest.raises(RuntimeError, match="Invalid scaling configuration"):
        torch._scaled_mm(a.float(), a.t(), one, one)
    with pytest.raises(RuntimeError, match="Bias must be size"):
        torch._scaled_mm(a, a.t(), one, one, bias=torch.ones(3, device="xpu").half())
    with pytest.raises(RuntimeError, match="scale_result must be a float scalar"):
        torch._scaled_mm(a, a.t(), one, one, scale_result=torch.ones(2, device="xpu"))
    with pytest.raises(RuntimeError, match="same device"):
        torch._scaled_mm(a, a.t(), one.cpu(), one)


def rows_of_eights(shape, seed):
    t = torch.randn(shape, generator=torch.Generator().manual_seed(seed))
    return t.to("xpu").to(torch.float8_e4m3fn)


def scale_of(count, seed):
    return torch.rand(count, generator=torch.Generator().manual_seed(seed)).add(0.5).to("xpu")


@pytest.mark.values
@pytest.mark.parametrize("recipe", [False, True])
@pytest.mark.parametrize("kind", ["rows", "columns", "batches", "sums"])
def test_scaled_grouped_mm(kind, recipe):
    """Each group as a product of its own."""
    groups, m, n, k = 3, 32, 48, 64
    ends = torch.tensor([16, 16, 32], dtype=torch.int32, device="xpu")
    ends = None if kind == "batches" else ends
    a = rows_of_eights((groups, m, k) if kind in ("columns", "batches") else (m, k), 0)
    b = rows_of_eights((groups, n, k) if kind in ("rows", "batches") else (n, k), 1).transpose(
        -1, -2
    )
    times = groups if kind == "sums" else 1
    scale_a = scale_of((groups, m) if kind in ("columns", "batches") else m * times, 2)
    scale_b = scale_of((groups, n) if kind in ("rows", "batches") else n * times, 3)
    if recipe:
        row = torch.nn.functional.ScalingType.RowWise.value
        out = torch._scaled_grouped_mm_v2(
            a, b, [scale_a], [row], [], [scale_b], [row], [], ends, None, torch.bfloat16
        )
    else:
        out = torch._scaled_grouped_mm(a, b, scale_a, scale_b, ends, out_dtype=torch.bfloat16)
    assert out.dtype == torch.bfloat16
    expected, begin = torch.zeros(out.shape), 0
    a, b, scale_a, scale_b = (t.cpu().float() for t in (a, b, scale_a, scale_b))
    for g, end in enumerate([0] * groups if ends is None else ends.tolist()):
        part = slice(begin, end)
        if kind == "rows":
            expected[part] = (a[part] @ b[g]) * scale_a[part, None] * scale_b[g]
        elif kind == "columns":
            expected[:, part] = (a[g] @ b[:, part]) * scale_a[g][:, None] * scale_b[part]
        elif kind == "batches":
            expected[g] = (a[g] @ b[g]) * scale_a[g][:, None] * scale_b[g]
        else:
            factors = scale_a.view(groups, m, 1)[g] * scale_b.view(groups, n)[g]
            expected[g] = (a[:, part] @ b[part]) * factors
        begin = end
    torch.testing.assert_close(out.cpu().float(), expected, rtol=2e-2, atol=2e-2)


def test_scaled_grouped_mm_refusals():
    a, b = rows_of_eights((2, 16, 16), 0), rows_of_eights((2, 16, 16), 1)
    scale = scale_of((2, 16), 2)
    with pytest.raises(ValueError, match="offs are needed"):
        torch._scaled_grouped_mm(a[0], b, scale[0], scale)
    with pytest.raises(ValueError, match="scale_b of float32 with 32 elements"):
        torch._scaled_grouped_mm(a, b, scale, scale[0])
    with pytest.raises(NotImplementedError, match="RowWise"):
        torch._scaled_grouped_mm_v2(a, b, [scale], [0], [], [scale], [0], [])
