"""Blocks of GGUF become tensors with the same elements, which behave as torchao's do."""

import copy
import io

import gguf_reference
import pytest
import torch

import ao_xpu
from ao_xpu.gguf.blocks import FORMATS, from_blocks
from ao_xpu.gguf.tensor import GgufTensor

# Bits of an element as it is stored here.
BITS = {"Q4_0": 4.5, "Q4_1": 5, "Q8_0": 8.5, "Q4_K": 5, "Q6_K": 9}


def weight(format, rows=6, blocks=3, device="xpu", dtype=torch.bfloat16):
    """A tensor of random blocks, and its elements in float64."""
    data = gguf_reference.random_rows(format, rows, blocks)
    tensor = torch.frombuffer(bytearray().join(data), dtype=torch.uint8).view(rows, -1)
    expected = [gguf_reference.elements(format, row) for row in data]
    return from_blocks(tensor.to(device), format, dtype), torch.tensor(expected).double()


def same(a, b):
    return all(torch.equal(getattr(a, n), getattr(b, n)) for n in a.__tensor_flatten__()[0])


@pytest.mark.values
@pytest.mark.parametrize("device", ["xpu", "cpu"])
@pytest.mark.parametrize("format", FORMATS)
def test_elements(format, device):
    got, expected = weight(format, device=device)
    assert got.shape == expected.shape
    # Parameters of groups of the K formats are rounded to f16; elements, to f32.
    largest = 127 * got.scale.cpu().double().abs()
    if got.offset is not None:
        largest += got.offset.cpu().double().abs()
    groups = largest.repeat_interleave(expected.shape[1] // largest.shape[1], 1)
    limit = groups * 2 ** (-12 if format.endswith("K") else -22)
    error = (got.dequantize(torch.float32).cpu().double() - expected).abs()
    assert (error <= limit).all(), error.max()


@pytest.mark.values
@pytest.mark.parametrize("format", FORMATS)
def test_products(format):
    tensor, elements = weight(format, 40, 2)
    x = torch.randn(3, 5, elements.shape[1]).bfloat16()
    bias = torch.randn(40).bfloat16()
    got = torch.nn.functional.linear(x.xpu(), tensor, bias.xpu())
    expected = torch.nn.functional.linear(x.double(), elements, bias.double())
    noise = (got.cpu().double() - expected).norm() / expected.norm()
    assert got.dtype == torch.bfloat16
    assert noise < 2**-8


@pytest.mark.parametrize("format", FORMATS)
def test_rows_are_looked_up(format):
    tensor, _ = weight(format, 9)
    layer = torch.nn.Embedding(9, tensor.shape[1], _weight=tensor)
    places = torch.tensor([[8, 0, 3], [3, 3, 1]], device="xpu")
    got = layer(places)
    assert got.dtype == torch.bfloat16
    torch.testing.assert_close(got, tensor.dequantize()[places], rtol=0, atol=0)
    assert layer(places[:, :0]).shape == (2, 0, tensor.shape[1])


@pytest.mark.values
@pytest.mark.parametrize("format", FORMATS)
def test_a_layer_is_saved_copied_and_moved(format):
    layer = torch.nn.Linear(1, 1, bias=False)
    layer.weight = torch.nn.Parameter(weight(format)[0], requires_grad=False)
    file = io.BytesIO()
    torch.save(layer.state_dict(), file)
    file.seek(0)
    loaded = torch.load(file, weights_only=True)["weight"]
    assert type(loaded) is GgufTensor
    moved = copy.deepcopy(layer).cpu()
    for other in (loaded, copy.deepcopy(layer).weight, moved.to("xpu").weight):
        assert same(other, layer.weight)
        assert other.dtype == torch.bfloat16


@pytest.mark.values
def test_another_type_is_that_of_rows_but_not_of_parameters():
    tensor, _ = weight("Q8_0")
    half = tensor.to(torch.float16)
    assert same(half, tensor)
    row = torch.nn.functional.embedding(torch.tensor([2], device="xpu"), half)
    assert (half.dtype, row.dtype) == (torch.float16, torch.float16)


@pytest.mark.values
@pytest.mark.parametrize("format", FORMATS)
def test_the_cpu_computes_the_same(format):
    tensor, _ = weight(format)
    x = torch.randn(4, tensor.shape[1])
    got = torch.nn.functional.linear(x.xpu(), tensor)
    expected = torch.nn.functional.linear(x, tensor.cpu())
    largest = expected.abs().max().item()
    torch.testing.assert_close(got.cpu(), expected, rtol=1e-4, atol=1e-5 * largest)


@pytest.mark.values
def test_a_product_is_captured():
    tensor, _ = weight("Q4_1", 64)
    x = torch.randn(1, 96, device="xpu", dtype=torch.bfloat16)
    torch.nn.functional.linear(x, tensor)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        y = torch.nn.functional.linear(x, tensor)
    x.normal_()
    graph.replay()
    assert torch.equal(y, torch.nn.functional.linear(x, tensor))


@pytest.mark.parametrize("format", FORMATS)
def test_the_report_has_the_bytes(format):
    model = torch.nn.Sequential(torch.nn.Linear(1, 1))
    tensor, _ = weight(format, 64)
    model[0].weight = torch.nn.Parameter(tensor, requires_grad=False)
    (layer,) = ao_xpu.report(model)
    assert (layer.kind, layer.operator) == ("GgufTensor", "low_bit_linear")
    assert abs(layer.bytes_after * 8 / tensor.numel() - BITS[format]) < 0.01
    assert layer.bytes_before == 2 * tensor.numel()


def test_scales_beyond_f16_stay_f32():
    block = bytearray(gguf_reference.random_rows("Q6_K", 1, 1)[0])
    block[208:] = b"\xff\x7b"  # 65504
    block[192] = 2
    data = torch.frombuffer(block, dtype=torch.uint8).view(1, -1)
    assert from_blocks(data, "Q6_K").scale[0, 0] == 2 * 65504


def test_what_is_no_rows_of_blocks_is_refused():
    data = torch.zeros(4, 20, dtype=torch.uint8)
    with pytest.raises(ValueError, match="format Q5_1: expected one of Q4_0, Q4_1, Q8_0, Q4_K"):
        from_blocks(data, "Q5_1")
    with pytest.raises(ValueError, match=r"shape \(4, 20\) has no rows of blocks of 34 bytes"):
        from_blocks(data, "Q8_0")
    with pytest.raises(ValueError, match=r"torch\.int8"):
        from_blocks(data.char(), "Q4_1")
