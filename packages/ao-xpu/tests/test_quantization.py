"""Quantizing weights: the numbers of torchao on the CPU, and the memory that it takes."""

import gc

import pytest
import torch
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8WeightOnlyConfig,
    Int4PlainInt32Tensor,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    PerRow,
    quantize_,
)

from ao_xpu.int4.quantizers import PIECE

ROWS = {
    "int8": Int8WeightOnlyConfig(),
    "int8 dynamic": Int8DynamicActivationInt8WeightConfig(),
    "float8": Float8WeightOnlyConfig(),
    "float8 rows": Float8DynamicActivationFloat8WeightConfig(granularity=PerRow()),
}
OTHERS = {
    "int4": Int4WeightOnlyConfig(),
    "int4 plain_int32": Int4WeightOnlyConfig(int4_packing_format="plain_int32"),
    **{
        f"intx of {bits}": IntxWeightOnlyConfig(getattr(torch, f"int{bits}"), PerGroup(128))
        for bits in range(2, 8)
    },
}
# The ratio of bytes that a config must save.
RATIOS = {
    "int8": 1.95,
    "float8": 1.95,
    "int8 dynamic": 1.95,
    "float8 rows": 1.95,
    "int4": 3.7,
    "int4 plain_int32": 3.7,
    **{f"intx of {bits}": 0.9 * 16 / bits for bits in range(2, 8)},
}


@pytest.mark.values
@pytest.mark.parametrize("name", ["int8", "float8"])
@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float16, torch.float32], ids=str)
def test_rows_have_the_numbers_of_the_cpu(name, dtype):
    torch.manual_seed(0)
    weight = torch.randn(70, 300).to(dtype)
    on_cpu, on_xpu = (torch.nn.Linear(300, 70, False, dtype=dtype) for _ in range(2))
    for layer, device in ((on_cpu, "cpu"), (on_xpu, "xpu")):
        layer.weight = torch.nn.Parameter(weight.to(device))
        quantize_(layer, ROWS[name])
    ours, theirs = on_xpu.weight, on_cpu.weight
    assert torch.equal(ours.scale.cpu(), theirs.scale)
    assert torch.equal(ours.qdata.cpu().view(torch.uint8), theirs.qdata.view(torch.uint8))
    assert list(ours.block_size) == list(theirs.block_size)
    assert (ours.dtype, ours.shape, type(ours)) == (theirs.dtype, theirs.shape, type(theirs))


@pytest.mark.values
def test_a_row_of_zeros_has_zeros():
    layer = torch.nn.Linear(64, 3, False, "xpu", torch.bfloat16)
    with torch.no_grad():
        layer.weight[1] = 0
    quantize_(layer, Float8WeightOnlyConfig())
    assert torch.equal(layer.weight.dequantize()[1].cpu(), torch.zeros(64, dtype=torch.bfloat16))


@pytest.mark.values
def test_pieces_of_plain_int32_are_what_torchao_makes_of_the_whole():
    from torchao.quantization.quantize_.workflows.int4 import int4_plain_int32_tensor as stock

    torch.manual_seed(0)
    weight = torch.randn(300, 2048, dtype=torch.bfloat16, device="xpu")
    assert weight.numel() > 2 * PIECE
    got = Int4PlainInt32Tensor.from_hp(weight, [1, 64])
    expected = stock._from_hp_xpu(Int4PlainInt32Tensor, weight, [1, 64])
    assert (got.shape, got.block_size, got.dtype) == (expected.shape, [1, 64], torch.bfloat16)
    for name in ("qdata", "scale", "zero_point"):
        assert torch.equal(getattr(got, name), getattr(expected, name))


@pytest.mark.parametrize("name", RATIOS)
def test_memory(name):
    """It is saved, and while a model is quantized it has at most two layers more than before."""
    layers, size = 8, 1024
    gc.collect()
    start = torch.xpu.memory_allocated()
    parts = [torch.nn.Linear(size, size, False, "xpu", torch.bfloat16) for _ in range(layers)]
    model = torch.nn.Sequential(*parts)
    del parts
    before = torch.xpu.memory_allocated() - start
    torch.xpu.reset_peak_memory_stats()
    quantize_(model, (ROWS | OTHERS)[name])
    torch.xpu.synchronize()
    peak = torch.xpu.max_memory_allocated() - start
    gc.collect()
    after = torch.xpu.memory_allocated() - start
    assert before / after >= RATIOS[name]
    assert peak <= before * (layers + 2) / layers
