"""Transforms of torch.func over quantized linear layers."""

import pytest
import torch
from torchao.quantization import (
    Float8WeightOnlyConfig,
    Int4WeightOnlyConfig,
    Int8WeightOnlyConfig,
    quantize_,
)

CONFIGS = {
    "int4": Int4WeightOnlyConfig(group_size=64),
    "plain_int32": Int4WeightOnlyConfig(group_size=64, int4_packing_format="plain_int32"),
    "tile_packed": Int4WeightOnlyConfig(group_size=64, int4_packing_format="tile_packed_to_4d"),
    "int8": Int8WeightOnlyConfig(),
    "float8": Float8WeightOnlyConfig(),
}


@pytest.mark.values
@pytest.mark.parametrize("name", CONFIGS)
def test_grad_and_vmap(name):
    torch.manual_seed(0)
    layer = torch.nn.Linear(128, 64, device="xpu", dtype=torch.bfloat16).requires_grad_(False)
    quantize_(layer, CONFIGS[name])
    x = torch.randn(3, 4, 128, device="xpu", dtype=torch.bfloat16)
    weight = layer.weight.dequantize().cpu().double()
    expected = x.cpu().double() @ weight.t() + layer.bias.cpu().double()

    def loss(x):
        return layer(x).float().square().sum()

    batched = torch.func.vmap(layer)(x)
    torch.testing.assert_close(batched.cpu().double(), expected, atol=0.02, rtol=0.02)
    gradient = torch.func.vmap(torch.func.grad(loss))(x)
    torch.testing.assert_close(gradient.cpu().double(), 2 * expected @ weight, atol=0.1, rtol=0.05)
