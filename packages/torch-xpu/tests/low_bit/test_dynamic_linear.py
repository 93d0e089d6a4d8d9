"""Numbers of eight bits with scales of rows, and products of activations that are quantized so."""

from concurrent.futures import ThreadPoolExecutor

import pytest
import torch
import xpu_runtime

FLOATS = (torch.float32, torch.float16, torch.bfloat16)


def quantized(x, dtype):
    """Return the numbers of rows and their scales, as torchao computes them on the CPU."""
    largest = x.abs().amax(-1, keepdim=True)
    if dtype == torch.int8:
        scale = (largest / 127.5).clamp(min=2.0**-23).float()
        return torch.clamp(torch.round(x * (1.0 / scale)), -128, 127).to(dtype), scale
    scale = (largest / 448).float()
    return (x.float() / scale).nan_to_num(0).clamp(-448, 448).to(dtype), scale


def operands(m, n, k, dtype, weight_dtype):
    generator = torch.Generator().manual_seed(m * n + k)
    x = torch.randn(m, k, generator=generator).to(dtype)
    weight, scale = quantized(torch.randn(n, k, generator=generator), weight_dtype)
    return x, weight, scale, torch.randn(n, generator=generator).to(dtype)


@pytest.mark.values
@pytest.mark.parametrize("with_bias", [False, True])
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("weight_dtype", [torch.int8, torch.float8_e4m3fn])
@pytest.mark.parametrize(
    ("m", "n", "k"), [(1, 48, 256), (1, 33, 67), (3, 7, 4), (5, 64, 300), (17, 40, 128), (1, 1, 1)]
)
def test_products(m, n, k, weight_dtype, dtype, with_bias):
    x, weight, scale, bias = operands(m, n, k, dtype, weight_dtype)
    numbers, scales = quantized(x, weight_dtype)
    expected = (numbers.double() * scales.double()) @ (weight.double() * scale.double()).t()
    expected = expected + bias.double() if with_bias else expected
    given = (bias.xpu() if with_bias else None,)
    got = torch.ops.torch_xpu.dynamic_linear(x.xpu(), weight.xpu(), scale.xpu(), *given)
    assert (got.dtype, got.shape) == (dtype, (m, n))
    tolerance = 2e-5 if dtype == torch.float32 else torch.finfo(dtype).eps
    size = expected.abs().max().item()
    torch.testing.assert_close(got.cpu().double(), expected, rtol=tolerance, atol=tolerance * size)


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("weight_dtype", [torch.int8, torch.float8_e4m3fn])
@pytest.mark.parametrize(("m", "n", "k"), [(1, 64, 512), (3, 33, 196)])
def test_rows_that_the_product_quantizes_are_those_of_a_kernel_of_its_own(
    m, n, k, weight_dtype, dtype
):
    x, weight, scale, bias = (t.xpu() for t in operands(m, n, k, dtype, weight_dtype))
    x[0] *= 1e-3
    got = torch.ops.torch_xpu.dynamic_linear(x, weight, scale, bias)
    # A candidate that is forced multiplies rows that are quantized already.
    with xpu_runtime.dnn.only_candidate("skinny"):
        expected = torch.ops.torch_xpu.dynamic_linear(x, weight, scale, bias)
    assert torch.equal(got, expected)


@pytest.mark.values
@pytest.mark.parametrize("weight_dtype", [torch.int8, torch.float8_e4m3fn])
def test_rows_of_zeros_and_numbers_that_are_none(weight_dtype):
    x, weight, scale, _ = operands(4, 6, 40, torch.bfloat16, weight_dtype)
    x[1], x[2, 3] = 0, float("nan")
    got = torch.ops.torch_xpu.dynamic_linear(x.xpu(), weight.xpu(), scale.xpu(), None).cpu()
    assert torch.equal(got[1], torch.zeros_like(got[1]))
    assert got[2].isnan().all()
    assert not got[[0, 1, 3]].isnan().any()


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize("numbers", [torch.int8, torch.float8_e4m3fn])
def test_rows(numbers, dtype):
    x = torch.randn(2, 5, 37, generator=torch.Generator().manual_seed(0)).to(dtype)
    expected, expected_scale = quantized(x, numbers)
    for given in (x, x.transpose(0, 1).contiguous().transpose(0, 1)):
        got, scale = torch.ops.torch_xpu.quantize_rows(given.xpu(), numbers)
        assert torch.equal(scale.cpu(), expected_scale)
        assert torch.equal(got.cpu().view(torch.uint8), expected.view(torch.uint8))
    got, scale = torch.ops.torch_xpu.quantize_rows(x[:0].xpu(), numbers)
    assert (got.shape, scale.shape) == ((0, 5, 37), (0, 5, 1))
    meta = torch.ops.torch_xpu.quantize_rows(x.to("meta"), numbers)
    assert [t.shape for t in meta] == [x.shape, (2, 5, 1)]


@pytest.mark.values
def test_shapes_and_strides():
    x, weight, scale, bias = (t.xpu() for t in operands(6, 5, 16, torch.float32, torch.int8))
    product = torch.ops.torch_xpu.dynamic_linear
    expected = product(x, weight, scale, bias)
    assert torch.equal(product(x.view(2, 3, 16), weight, scale, bias), expected.view(2, 3, 5))
    torch.testing.assert_close(product(x[2], weight, scale, bias), expected[2])
    many = product(x.view(*[1] * 11, 6, 16), weight, scale, bias)
    assert torch.equal(many.view(6, 5), expected)
    assert torch.equal(product(x[:1].expand(6, 16), weight, scale, bias)[5], expected[0])
    assert torch.equal(product(x.t().contiguous().t(), weight, scale, bias), expected)
    assert torch.equal(product(x, weight.t().contiguous().t(), scale, bias), expected)
    assert product(x[:0], weight, scale, bias).shape == (0, 5)
    meta = product(*(t.to("meta") for t in (x.view(2, 3, 16), weight, scale)), None)
    assert meta.shape == (2, 3, 5)


@pytest.mark.values
def test_captured_work_reads_new_activations():
    x, weight, scale, bias = (t.xpu() for t in operands(2, 9, 64, torch.bfloat16, torch.int8))
    product = torch.ops.torch_xpu.dynamic_linear
    graph = torch.xpu.XPUGraph()
    product(x, weight, scale, bias)
    with torch.xpu.graph(graph):
        got = product(x, weight, scale, bias)
    x.mul_(2)
    graph.replay()
    assert torch.equal(got, product(x, weight, scale, bias))


@pytest.mark.values
def test_threads_and_streams():
    x, weight, scale, bias = (t.xpu() for t in operands(3, 9, 64, torch.bfloat16, torch.int8))
    product = torch.ops.torch_xpu.dynamic_linear
    expected = product(x, weight, scale, bias)
    torch.xpu.synchronize()

    def run(_):
        with torch.xpu.stream(torch.xpu.Stream()):
            for _ in range(50):
                got = product(
                    x.clone(), weight, scale, bias
                )  # the activations are dropped in flight
            torch.xpu.current_stream().synchronize()
        return torch.equal(got, expected)

    with ThreadPoolExecutor(4) as pool:
        assert all(pool.map(run, range(4)))


def test_refusals():
    x, weight, scale, bias = (t.xpu() for t in operands(2, 5, 16, torch.float32, torch.int8))
    product = torch.ops.torch_xpu.dynamic_linear
    with pytest.raises(TypeError, match="input: got Int"):
        product(x.int(), weight, scale, None)
    with pytest.raises(TypeError, match="expected int8 or float8_e4m3fn"):
        product(x, weight.float(), scale, None)
    with pytest.raises(ValueError, match="cannot be multiplied"):
        product(x[:, :3], weight, scale, None)
    with pytest.raises(ValueError, match=r"expected float32 of shape \(5, 1\)"):
        product(x, weight, scale.t(), None)
    with pytest.raises(ValueError, match="bias: expected"):
        product(x, weight, scale, bias[:3])
    with pytest.raises(RuntimeError, match="device"):
        product(x, weight.cpu(), scale, None)
