"""Products by low-bit weights, compared with float64 over shapes, formats and parameters."""

import pytest
import reference
import torch

from ao_xpu.operators.low_bit_linear import dequantize_low_bit, low_bit_linear

pytestmark = pytest.mark.values
FORMATS = ("int8", "uint8", "e4m3", "e5m2", "int4", "uint4")


def stored_weight(format, rows, columns):
    """Bytes [N, K] or [N, K / 2], and the float64 numbers that they are."""
    generator = torch.Generator().manual_seed(rows * columns)

    def integers(minimum, end):
        return torch.randint(minimum, end, (rows, columns), generator=generator)

    if format in ("int8", "uint8"):
        numbers = integers(-128, 128) if format == "int8" else integers(0, 256)
        return numbers.to(getattr(torch, format)), numbers.double()
    if format in ("e4m3", "e5m2"):
        dtype = {"e4m3": torch.float8_e4m3fn, "e5m2": torch.float8_e5m2}[format]
        data = (integers(-400, 400) / 16).to(dtype)
        return data, data.double()
    numbers = integers(-8, 8) if format == "int4" else integers(0, 16)
    halves = numbers % 16
    return (halves[:, ::2] + 16 * halves[:, 1::2]).to(torch.uint8), numbers.double()


def parameters(shape, dtypes=(torch.float32, torch.float32, torch.float32)):
    scale = torch.rand(shape) + 0.5
    zero_point = torch.randint(-8, 9, shape) + (0.25 if dtypes[1].is_floating_point else 0)
    return scale.to(dtypes[0]), zero_point.to(dtypes[1]), torch.randn(shape).to(dtypes[2])


def elements(numbers, scale, zero_point, offset):
    for parameter, step in ((zero_point, "sub"), (scale, "mul"), (offset, "add")):
        if parameter is not None:
            values = parameter.double()
            if values.dim() == 2 and values.shape[1] > 1:
                values = values.repeat_interleave(numbers.shape[1] // values.shape[1], 1)
            numbers = getattr(numbers, step)(values)
    return numbers


def on_xpu(*tensors):
    return [None if t is None else t.xpu() for t in tensors]


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32])
@pytest.mark.parametrize("format", FORMATS)
def test_formats(format, dtype):
    data, numbers = stored_weight(format, 24, 64)
    given = parameters((24, 2))
    expected = elements(numbers, *given)
    torch.manual_seed(0)
    x, bias = torch.randn(5, 64).to(dtype), torch.randn(24).to(dtype)
    got = low_bit_linear(x.xpu(), *on_xpu(data), format, *on_xpu(*given, bias))
    assert got.dtype == dtype
    exact = x.double() @ expected.t() + bias.double()
    assert reference.sqnr(exact, got) > (100 if dtype == torch.float32 else 38)
    decoded = dequantize_low_bit(*on_xpu(data), format, *on_xpu(*given))
    assert reference.sqnr(expected, decoded) > 120


@pytest.mark.parametrize("rows", [0, 1, 3, 16, 100, 512])
@pytest.mark.parametrize(
    ("n", "k", "group"), [(7, 32, 16), (64, 256, 256), (33, 96, 48), (1, 2, 2)]
)
def test_shapes(rows, n, k, group):
    data, numbers = stored_weight("int4", n, k)
    scale, _, offset = parameters((k // group, n), (torch.bfloat16,) * 3)
    x = torch.randn(rows, k).bfloat16()
    got = low_bit_linear(x.xpu(), data.xpu(), "int4", scale.xpu().t(), offset=offset.xpu().t())
    exact = x.double() @ elements(numbers, scale.t(), None, offset.t()).t()
    assert got.shape == exact.shape
    if rows:
        torch.testing.assert_close(got.cpu().double(), exact, atol=0.1 * k**0.5, rtol=0.02)


@pytest.mark.parametrize("shape", [(), (1, 1), (6, 1), (6, 4)])
@pytest.mark.parametrize("zero_point", [torch.int8, torch.float32, torch.bfloat16, None])
def test_parameters_of_any_extent(shape, zero_point):
    data, numbers = stored_weight("uint4", 6, 64)
    scale, zero, _ = parameters(shape, (torch.float16, zero_point or torch.int8, torch.float32))
    zero = None if zero_point is None else zero
    got = dequantize_low_bit(*on_xpu(data), "uint4", *on_xpu(scale, zero))
    torch.testing.assert_close(got.cpu().double(), elements(numbers, scale, zero, None))


def test_a_weight_of_words_is_its_bytes():
    data, numbers = stored_weight("uint4", 4, 64)
    got = dequantize_low_bit(data.xpu().view(torch.int32), "uint4")
    assert torch.equal(got.cpu().double(), numbers)
    rows = dequantize_low_bit(data.xpu().view(torch.int32)[1:3], "uint4")
    assert torch.equal(rows.cpu().double(), numbers[1:3])
    columns = dequantize_low_bit(data.xpu().view(torch.int32)[:, 2:4], "uint4")
    assert torch.equal(columns.cpu().double(), numbers[:, 16:32])


def test_gradients_reach_activations_and_bias():
    data, numbers = stored_weight("int8", 6, 32)
    scale, _, _ = parameters((6, 1))
    weight = elements(numbers, scale, None, None).float()
    x, bias = torch.randn(4, 32), torch.randn(6)
    got_x, got_bias = (t.xpu().requires_grad_() for t in (x, bias))
    x.requires_grad_(), bias.requires_grad_()
    low_bit_linear(
        got_x, *on_xpu(data), "int8", *on_xpu(scale), bias=got_bias
    ).square().sum().backward()
    torch.nn.functional.linear(x, weight, bias).square().sum().backward()
    torch.testing.assert_close(got_x.grad.cpu(), x.grad, rtol=1e-4, atol=1e-2)
    torch.testing.assert_close(got_bias.grad.cpu(), bias.grad, rtol=1e-4, atol=1e-2)


def test_autocast_decides_the_type():
    data, _ = stored_weight("int8", 6, 32)
    x = torch.randn(4, 32, device="xpu")
    with torch.autocast("xpu", torch.bfloat16):
        got = low_bit_linear(x, *on_xpu(data), "int8")
    assert got.dtype == torch.bfloat16
    assert torch.equal(got, low_bit_linear(x.bfloat16(), *on_xpu(data), "int8"))


def test_an_unknown_format_is_rejected():
    with pytest.raises((ValueError, RuntimeError), match="format"):
        dequantize_low_bit(torch.zeros(2, 2, dtype=torch.uint8, device="xpu"), "int5")


@pytest.mark.parametrize(
    ("m", "k", "n"), [(1, 8, 8), (5, 13, 7), (0, 16, 8), (17, 64, 1), (3, 0, 4)]
)
def test_integer_products_of_any_size_stay_on_the_device(m, k, n):
    from torchao.kernel.intmm import safe_int_mm

    torch.manual_seed(0)
    a, b = (torch.randint(-128, 128, shape, dtype=torch.int8) for shape in ((m, k), (n, k)))
    got = safe_int_mm(a.xpu(), b.xpu().t())
    assert got.device.type == "xpu"
    assert got.dtype == torch.int32
    assert torch.equal(got.cpu(), a.int() @ b.int().t())


def test_integer_matrices_that_do_not_fit_are_an_error():
    from torchao.kernel.intmm import safe_int_mm

    a = torch.ones(4, 8, dtype=torch.int8, device="xpu")
    with pytest.raises(RuntimeError):
        safe_int_mm(a, a)
