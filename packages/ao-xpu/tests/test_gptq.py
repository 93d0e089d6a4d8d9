"""GPTQ: the error of a layer's results on the activations that were observed, beside plain rounding."""

import pytest
import reference
import torch
from torchao.quantization import Int4WeightOnlyConfig, Int8WeightOnlyConfig, PerTensor, quantize_

pytestmark = [
    pytest.mark.values,
    pytest.mark.filterwarnings("ignore:`torch.jit:DeprecationWarning"),
]
N, K = 64, 256


def int4(packing, group=64):
    return Int4WeightOnlyConfig(group_size=group, int4_packing_format=packing)


CONFIGS = {
    "plain": lambda: int4("plain"),
    "plain_int32": lambda: int4("plain_int32"),
    "tile_packed_to_4d": lambda: int4("tile_packed_to_4d"),
    "groups as long as rows": lambda: int4("plain", K),
    "int8": Int8WeightOnlyConfig,
}


def gptq(step, base, **named):
    from torchao.prototype.gptq import GPTQConfig

    return GPTQConfig(step=step, base_config=base, **named)


def layer():
    torch.manual_seed(0)
    return torch.nn.Linear(K, N, dtype=torch.bfloat16, device="xpu").requires_grad_(False)


def correlated_activations():
    """Activations of few directions, as GPTQ makes use of; one input is always zero."""
    torch.manual_seed(1)
    x = torch.randn(512, 40) @ torch.randn(40, K) + 0.1 * torch.randn(512, K)
    x[:, 5] = 0
    return x.bfloat16().xpu()


@pytest.mark.parametrize("block", [32, 100, 256])
@pytest.mark.parametrize("config", CONFIGS.values(), ids=CONFIGS)
def test_errors_are_smaller_than_of_rounding(config, block):
    x = correlated_activations()
    exact, rounded, observed = layer(), layer(), layer()
    quantize_(rounded, config())
    quantize_(observed, gptq("observe", config()))
    for part in x.split(128):
        observed(part)
    hessian = observed.weight.hessian.clone()
    expected = exact(x)
    weight = observed.weight
    quantize_(observed, gptq("convert", config(), gptq_quantize_block_size=block))
    assert torch.equal(weight.hessian, hessian)
    assert type(observed.weight) is type(rounded.weight)
    assert reference.sqnr(expected, observed(x)) > reference.sqnr(expected, rounded(x)) + 1.5
    assert observed.weight.dequantize()[:, 5].abs().max() < 0.02


def test_rows_shorter_than_a_group_are_a_group():
    from torchao.prototype.gptq import gptq_quantize

    x, weight = correlated_activations().float(), layer().weight.detach()
    longer, equal = (
        gptq_quantize(x.T @ x, weight, gptq("convert", int4("plain", group)))
        for group in (2 * K, K)
    )
    assert longer.block_size == [1, K]
    assert torch.equal(longer.dequantize(), equal.dequantize())


def test_what_gptq_does_not_make_is_rejected():
    x = correlated_activations()
    wrong = (
        (int4("preshuffled"), "packs plain, plain_int32, tile_packed_to_4d, not preshuffled"),
        (int4("plain", 96), "rows of 256 elements are no groups of 96"),
        (Int8WeightOnlyConfig(granularity=PerTensor()), "a scale for each row"),
    )
    for config, message in wrong:
        observed = layer()
        quantize_(observed, gptq("observe", config))
        observed(x)
        with pytest.raises(ValueError, match=message):
            quantize_(observed, gptq("convert", config))


def test_other_devices_still_need_mslk():
    observed = layer().cpu()
    with pytest.raises(ValueError, match="mslk is not installed"):
        quantize_(observed, gptq("observe", int4("plain")))
    quantize_(observed, gptq("observe", Int8WeightOnlyConfig()))
    observed(correlated_activations().cpu())
    with pytest.raises(AssertionError, match="GPTQ only supports CUDA currently"):
        quantize_(observed, gptq("convert", Int8WeightOnlyConfig()))


def nvfp4(**named):
    from torchao.prototype.mx_formats import NVFP4DynamicActivationNVFP4WeightConfig

    return NVFP4DynamicActivationNVFP4WeightConfig(**named)


def quantize_nvfp4(weight, x, **named):
    """Return the weight, quantized for activations."""
    from torchao.prototype.gptq import gptq_quantize

    return gptq_quantize(x.float().T @ x.float(), weight, gptq("convert", nvfp4(), **named))


@pytest.mark.parametrize("block", [24, 128])
def test_errors_of_nvfp4_are_smaller_than_of_rounding(block):
    from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor, per_tensor_amax_to_scale

    x, weight = correlated_activations(), layer().weight.detach()
    factor = per_tensor_amax_to_scale(weight.abs().amax())
    rounded = NVFP4Tensor.to_nvfp4(weight, per_tensor_scale=factor)
    quantized = quantize_nvfp4(weight, x, gptq_quantize_block_size=block)
    assert torch.equal(quantized.per_tensor_scale, factor)
    expected = x.float() @ weight.float().T
    errors = [
        reference.sqnr(expected, x.float() @ tensor.dequantize().float().T)
        for tensor in (rounded, quantized)
    ]
    assert errors[1] > errors[0] + 1.5


def test_nvfp4_without_correlation_is_that_of_rounding():
    from torchao.prototype.mx_formats.nvfp4_tensor import NVFP4Tensor, per_tensor_amax_to_scale

    weight = layer().weight.detach()
    weight[3] = 0
    factor = per_tensor_amax_to_scale(weight.abs().amax())
    rounded = NVFP4Tensor.to_nvfp4(weight, per_tensor_scale=factor, is_swizzled_scales=True)
    quantized = quantize_nvfp4(weight, torch.eye(K, device="xpu"))
    assert torch.equal(quantized.scale.view(torch.uint8), rounded.scale.view(torch.uint8))
    different = (quantized.dequantize() != rounded.dequantize()).float().mean().item()
    assert different < 0.002  # numbers between two of float4, which a rounded quotient may cross


def test_nvfp4_of_experts():
    from torchao.prototype.gptq import gptq_quantize_3d

    x = correlated_activations().float()
    weight = layer().weight.detach()
    expert = torch.cat((weight, weight.flip(0)))  # torchao's blocks of scales have 128 rows
    weights = torch.stack([expert, 3 * expert])
    hessians = torch.stack([x.T @ x, x.T @ x + torch.eye(K, device="xpu")])
    stacked = gptq_quantize_3d(hessians, weights, gptq("convert", nvfp4()))
    assert stacked.shape == (2, 2 * N, K)
    assert reference.sqnr(weights, stacked.dequantize()) > 15


def test_nvfp4_that_gptq_does_not_make_is_rejected():
    from torchao.prototype.gptq import gptq_quantize

    weight, hessian = layer().weight.detach(), torch.eye(K, device="xpu")
    config = gptq("convert", nvfp4(use_dynamic_per_tensor_scale=False))
    with pytest.raises(ValueError, match="needs use_dynamic_per_tensor_scale=True"):
        gptq_quantize(hessian, weight, config)
    with pytest.raises(ValueError, match="rows of 24 elements are no blocks of 16"):
        gptq_quantize(hessian[:24, :24], weight[:, :24], gptq("convert", nvfp4()))
