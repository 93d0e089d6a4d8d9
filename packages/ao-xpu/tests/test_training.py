"""Quantization-aware training, and training with int8 products."""

import pytest
import reference
import torch
from torch.utils._python_dispatch import TorchDispatchMode
from torchao.prototype.quantized_training import Int8MixedPrecisionTrainingConfig
from torchao.quantization import (
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8DynamicActivationIntxWeightConfig,
    Int8WeightOnlyConfig,
    IntxWeightOnlyConfig,
    PerGroup,
    PerTensor,
    quantize_,
)
from torchao.quantization.qat import QATConfig
from torchao.quantization.quant_primitives import MappingType

pytestmark = pytest.mark.values

BASES = {
    **{
        packing: lambda packing=packing: Int4WeightOnlyConfig(
            group_size=32, int4_packing_format=packing
        )
        for packing in ("plain", "preshuffled", "plain_int32", "tile_packed_to_4d")
    },
    "int8 rows": Int8WeightOnlyConfig,
    "int8 groups": lambda: Int8WeightOnlyConfig(granularity=PerGroup(32)),
    "int8 dynamic": Int8DynamicActivationInt8WeightConfig,
    "int3 of intx": lambda: IntxWeightOnlyConfig(torch.int3, PerGroup(32)),
    "int5 of intx, dynamic": lambda: Int8DynamicActivationIntxWeightConfig(torch.int5),
    "int8 dynamic asymmetric": lambda: Int8DynamicActivationInt8WeightConfig(
        act_mapping_type=MappingType.ASYMMETRIC
    ),
}


class Counted(TorchDispatchMode):
    """Count the calls of an operator."""

    def __init__(self, operator):
        super().__init__()
        self.operator, self.calls = operator, 0

    def __torch_dispatch__(self, func, types, args=(), kwargs=None):
        self.calls += func is self.operator
        return func(*args, **(kwargs or {}))


def network(device="xpu", dtype=torch.bfloat16):
    torch.manual_seed(0)
    layers = torch.nn.Linear(128, 64), torch.nn.GELU(), torch.nn.Linear(64, 32)
    return torch.nn.Sequential(*layers).to(device, dtype)


def losses(model, steps, device="xpu", dtype=torch.bfloat16, rate=1.0):
    """Losses of regression onto a fixed network, on other inputs in each step."""
    torch.manual_seed(1)
    target = torch.randn(128, 32) / 8
    optimizer = torch.optim.SGD(model.parameters(), lr=rate)
    found = []
    for _ in range(steps):
        x = torch.randn(64, 128)
        y = (x @ target).to(device, dtype)
        loss = (model(x.to(device, dtype)) - y).float().square().mean()
        loss.backward()
        optimizer.step()
        optimizer.zero_grad()
        found.append(loss.detach())
    return torch.stack(found).cpu()


@pytest.mark.parametrize("base", BASES.values(), ids=BASES)
def test_what_is_trained_is_what_is_converted(base):
    model = network()
    x = torch.randn(16, 128).bfloat16().xpu()
    quantize_(model, QATConfig(base(), step="prepare"))
    found = losses(model, 12)
    assert found[-3:].mean() < found[:3].mean()
    assert model[0].weight.grad is None or model[0].weight.grad.isfinite().all()
    with torch.no_grad():
        simulated = model(x)
        quantize_(model, QATConfig(base(), step="convert"))
        assert type(model[0].weight) is not torch.nn.Parameter
        assert reference.sqnr(simulated, model(x)) > 33


def test_what_does_not_fit_is_rejected_before_training():
    base = BASES["plain_int32"]()
    base.group_size = 48
    with pytest.raises(ValueError, match="rows of 128 elements are no groups of 48"):
        quantize_(network(), QATConfig(base, step="prepare"))


def test_three_dimensions_and_empty_activations_are_simulated():
    model = network()
    quantize_(model, QATConfig(Int8DynamicActivationInt8WeightConfig(), step="prepare"))
    assert model(torch.randn(2, 3, 128).bfloat16().xpu()).shape == (2, 3, 32)


def test_a_scheme_that_is_not_simulated_is_rejected():
    base = Int8WeightOnlyConfig(granularity=PerTensor())
    with pytest.raises(ValueError, match="Unexpected base config"):
        quantize_(network(), QATConfig(base, step="prepare"))


@pytest.mark.parametrize("dtype", [torch.bfloat16, torch.float32])
def test_mixed_precision_multiplies_integers(dtype):
    """Forward and both products of backward are int8; losses are those of the same scheme on the CPU."""
    model, stock = network("xpu", dtype), network("cpu", dtype)
    quantize_(model, Int8MixedPrecisionTrainingConfig())
    quantize_(stock, Int8MixedPrecisionTrainingConfig(module_swap=True))
    with Counted(torch.ops.aten._int_mm.default) as counted:
        losses(model, 1, dtype=dtype)
    assert counted.calls == 2 * 3 - 1  # the first layer's input needs no gradient
    got = losses(model, 40, dtype=dtype, rate=3)
    losses(stock, 1, "cpu", dtype)
    expected = losses(stock, 40, "cpu", dtype, rate=3)
    assert got[-1] < got[0] / 2
    torch.testing.assert_close(got[-5:].mean(), expected[-5:].mean(), rtol=0.05, atol=0)


def test_mixed_precision_under_autocast():
    model = network("xpu", torch.float32)
    quantize_(model, Int8MixedPrecisionTrainingConfig())
    with torch.autocast("xpu", torch.bfloat16):
        y = model(torch.randn(4, 128, device="xpu"))
    assert y.dtype == torch.bfloat16
    y.sum().backward()
    assert model[0].weight.grad.shape == (64, 128)


@pytest.mark.parametrize("packing", ["plain", "preshuffled", "plain_int32", "tile_packed_to_4d"])
def test_weights_of_f32_are_trained_for_int4(packing):
    """They become bf16 before they are converted. Training sees what is stored then, or rounds f32."""
    model = network(dtype=torch.float32)
    x = torch.randn(16, 128).xpu()
    quantize_(model, QATConfig(BASES[packing](), step="prepare"))
    losses(model, 2, dtype=torch.float32)
    with torch.no_grad():
        simulated = model(x)
        model.bfloat16()
        quantize_(model, QATConfig(BASES[packing](), step="convert"))
        assert type(model[0].weight) is not torch.nn.Parameter
        sees_what_is_stored = packing in ("plain_int32", "tile_packed_to_4d")
        ratio = reference.sqnr(simulated, model(x.bfloat16()))
        assert ratio > (33 if sees_what_is_stored else 27)
