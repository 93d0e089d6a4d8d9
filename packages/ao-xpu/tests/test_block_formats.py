"""MX and NVFP4: checkpoints in CUDA's order, static factors, batches, autograd, training and wrong shapes."""

import copy
from concurrent.futures import ThreadPoolExecutor

import pytest
import reference
import torch
from schemes import mx
from torchao.prototype.mx_formats import (
    NVFP4DynamicActivationNVFP4WeightConfig,
    NVFP4WeightOnlyConfig,
)
from torchao.prototype.mx_formats.mx_tensor import MXTensor
from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor
from torchao.quantization import quantize_

import ao_xpu

CONFIGS = {
    "mxfp8": mx(torch.float8_e4m3fn),
    "mxfp8 of e5m2": mx(torch.float8_e5m2),
    "mxfp4": mx(torch.float4_e2m1fn_x2),
    "nvfp4": NVFP4WeightOnlyConfig,
    "nvfp4 dynamic": NVFP4DynamicActivationNVFP4WeightConfig,
}


def make_layer(rows=48, columns=192, bias=True):
    torch.manual_seed(0)
    return torch.nn.Linear(columns, rows, bias, "xpu", torch.bfloat16).requires_grad_(False)


def activations(*shape):
    return torch.randn(*shape, generator=torch.Generator().manual_seed(1)).bfloat16().xpu()


def swizzled(weight):
    """Return the weight as torchao stores it on CUDA."""
    from torchao.prototype.mx_formats.utils import to_blocked

    names, attributes = weight.__tensor_flatten__()
    parts = {name: getattr(weight, name) for name in names}
    blocks = to_blocked(weight.scale).view(-1, 16 * -(-weight.scale.shape[1] // 4))
    attributes = attributes | {"is_swizzled_scales": True}
    return type(weight).__tensor_unflatten__(parts | {"scale": blocks}, attributes, None, None)


@pytest.mark.values
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("rows", [48, 144])
def test_scales_in_the_order_of_cuda(name, rows):
    layer, x = make_layer(rows), activations(5, 192)
    quantize_(layer, CONFIGS[name]())
    assert not layer.weight.is_swizzled_scales
    expected = layer(x)
    layer.weight = torch.nn.Parameter(swizzled(layer.weight), requires_grad=False)
    assert torch.equal(layer(x), expected)
    assert torch.equal(layer.weight.dequantize(), layer.weight.dequantize())


@pytest.mark.values
@pytest.mark.parametrize("name", ["mxfp8", "mxfp4", "nvfp4 dynamic"])
def test_products_of_the_classes_give_the_same(name):
    """Activations that are quantized before take torchao's own product."""
    layer, x = make_layer(bias=False), activations(4, 192)
    quantize_(layer, CONFIGS[name]())
    how = layer.weight.act_quant_kwargs
    if name == "nvfp4 dynamic":
        factor = x.abs().max().float() / (448 * 6)
        quantized = NVFP4Tensor.to_nvfp4(x, per_tensor_scale=factor)
    else:
        quantized = MXTensor.to_mx(x, how.elem_dtype, 32, how.scaling_mode, how.kernel_preference)
    expected = torch.mm(quantized, layer.weight.t())
    assert reference.sqnr(expected, layer(x)) > 45


@pytest.mark.values
def test_factors_may_be_calibrated():
    layer, x = make_layer(), activations(16, 192)
    model = torch.nn.Sequential(copy.deepcopy(layer))
    quantize_(model, NVFP4DynamicActivationNVFP4WeightConfig(step="prepare"))
    model(x)
    quantize_(model, NVFP4DynamicActivationNVFP4WeightConfig(step="convert"))
    assert type(model[0].weight) is NVFP4Tensor
    assert model[0].weight.act_per_tensor_scale.device.type == "xpu"
    quantize_(layer, NVFP4DynamicActivationNVFP4WeightConfig())
    torch.testing.assert_close(model(x), layer(x), rtol=0, atol=0)


@pytest.mark.values
def test_batches_have_factors():
    weight, x = activations(3, 48, 64), activations(3, 5, 64)
    module = torch.nn.Module()
    module.weight = torch.nn.Parameter(weight, requires_grad=False)
    config = NVFP4DynamicActivationNVFP4WeightConfig()
    quantize_(module, config, filter_fn=lambda *_: True)
    got = torch.bmm(x, module.weight.transpose(-2, -1))
    for i in range(3):
        expected = reference.nvfp4(x[i].cpu()) @ reference.nvfp4(weight[i].cpu()).t()
        assert reference.sqnr(expected, got[i]) > 40


@pytest.mark.values
@pytest.mark.parametrize("name", CONFIGS)
def test_gradients_reach_activations(name):
    layer, x = make_layer(), activations(4, 192).requires_grad_()
    expected = activations(4, 48) @ (quantized := copy.deepcopy(layer)).weight
    quantize_(quantized, CONFIGS[name]())
    quantized(x).backward(activations(4, 48))
    assert reference.sqnr(expected, x.grad) > 15


@pytest.mark.values
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.parametrize("bias", [(48,), (4, 48), (4, 1)], ids=str)
@pytest.mark.parametrize(("beta", "alpha"), [(1, 1), (0.5, 2), (0, 3)])
def test_sums_have_factors(name, bias, beta, alpha):
    layer, x, bias = make_layer(bias=False), activations(4, 192), activations(*bias)
    quantize_(layer, CONFIGS[name]())
    given = torch.full_like(bias, torch.nan) if beta == 0 else bias
    got = torch.addmm(given, x, layer.weight.t(), beta=beta, alpha=alpha)
    expected = alpha * layer(x) + beta * bias
    torch.testing.assert_close(got, expected, rtol=0.02, atol=0.05)


@pytest.mark.parametrize("value", [0.0, float("nan"), float("inf")])
@pytest.mark.parametrize("name", CONFIGS)
@pytest.mark.values
def test_rows_without_range(name, value):
    layer, x = make_layer(bias=False), activations(3, 192)
    quantize_(layer, CONFIGS[name]())
    expected = layer(x)
    x[1] = value
    got = layer(x)
    if value == 0:
        assert torch.equal(got[1], torch.zeros_like(got[1]))
        assert torch.equal(layer(torch.zeros_like(x)), torch.zeros_like(expected))
    elif value != value:
        assert got[1].isnan().all()
    if name != "nvfp4 dynamic" or value == 0:  # its factor is that of all rows
        assert torch.equal(got[::2], expected[::2])


@pytest.mark.parametrize("name", CONFIGS)
def test_wrong_shapes_are_rejected(name):
    layer = make_layer(48, 200)
    with pytest.raises((AssertionError, RuntimeError), match=r"divisible|multiples"):
        quantize_(layer, CONFIGS[name]())
    layer = make_layer()
    quantize_(layer, CONFIGS[name]())
    with pytest.raises((ValueError, RuntimeError), match=r"no rows of blocks|cannot be multiplied"):
        layer(activations(4, 191))
    with pytest.raises(RuntimeError, match="on the same device"):
        layer(activations(4, 192).cpu())


@pytest.mark.values
@pytest.mark.parametrize("name", CONFIGS)
def test_threads_with_streams_share_a_layer(name):
    layer, x = make_layer(), activations(4, 192)
    quantize_(layer, CONFIGS[name]())
    expected = layer(x)
    torch.xpu.synchronize()

    def equal_products(_):
        with torch.xpu.stream(torch.xpu.Stream()):
            # The copy of the activations is dropped while its product is pending.
            return all(torch.equal(layer(x.clone()), expected) for _ in range(10))

    with ThreadPoolExecutor(3) as threads:
        assert all(threads.map(equal_products, range(3)))


@pytest.mark.parametrize(("name", "ratio"), [("mxfp8", 1.9), ("mxfp4", 3.7), ("nvfp4", 3.5)])
def test_memory(name, ratio):
    layer = make_layer(1024, 4096)
    quantize_(layer, CONFIGS[name]())
    (row,) = ao_xpu.report(torch.nn.Sequential(layer))
    assert row.bytes_before / row.bytes_after > ratio
