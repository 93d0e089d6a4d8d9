"""Low-precision training: losses of fifty steps are those of the CPU, emulated where it has no product."""

import dataclasses
from dataclasses import dataclass
from functools import partial
from typing import Any

import pytest
import torch
from test_training import losses, network
from torch.profiler import ProfilerActivity, profile
from torchao.float8 import Float8LinearConfig, convert_to_float8_training
from torchao.prototype.quantized_training import Int8MixedPrecisionTrainingConfig
from torchao.prototype.quantized_training.bitnet import BitNetTrainingConfig
from torchao.quantization import quantize_
from torchao.quantization.quantize_.common import KernelPreference

pytestmark = pytest.mark.values

STEPS = 50
F32, BF16 = torch.float32, torch.bfloat16
INT8, SCALED = "aten::_int_mm", "aten::_scaled_mm"


@dataclass(frozen=True)
class Recipe:
    """What to convert a model by, on each device, and the operator that multiplies on xpu."""

    on_xpu: Any
    on_cpu: Any
    product: str
    dtype: torch.dtype = F32
    rate: float = 1.0


def float8(name):
    config = Float8LinearConfig.from_recipe_name(name)
    return Recipe(config, dataclasses.replace(config, emulate=True), SCALED, BF16, 0.5)


def mxfp8():
    try:
        from torchao.prototype.moe_training.config import MXFP8TrainingOpConfig
    except ValueError as error:
        pytest.skip(f"this torchao does not suit this Triton: {error}")
    emulated = MXFP8TrainingOpConfig(kernel_preference=KernelPreference.EMULATED)
    return Recipe(MXFP8TrainingOpConfig(), emulated, SCALED, BF16)


def int8():
    config = Int8MixedPrecisionTrainingConfig
    return Recipe(config(), config(module_swap=True), INT8)


RECIPES = {
    **{
        f"float8 {name}": partial(float8, name)
        for name in ("tensorwise", "rowwise", "rowwise_with_gw_hp")
    },
    "mxfp8": mxfp8,
    "int8 mixed precision": int8,
    "BitNet": lambda: Recipe(BitNetTrainingConfig(), BitNetTrainingConfig(), INT8),
}


def converted(config, device, dtype):
    model = network(device, dtype)
    if isinstance(config, Float8LinearConfig):
        return convert_to_float8_training(model, config=config)
    quantize_(model, config)
    return model


@pytest.mark.parametrize("make_recipe", RECIPES.values(), ids=RECIPES)
def test_losses_are_those_of_the_cpu(make_recipe):
    recipe = make_recipe()
    model = converted(recipe.on_xpu, "xpu", recipe.dtype)
    got = losses(model, STEPS, "xpu", recipe.dtype, recipe.rate)
    stock = converted(recipe.on_cpu, "cpu", recipe.dtype)
    expected = losses(stock, STEPS, "cpu", recipe.dtype, recipe.rate)
    assert got[-5:].mean() < got[:5].mean()
    torch.testing.assert_close(got, expected, rtol=0.01, atol=0)
    with profile(activities=[ProfilerActivity.CPU]) as trace:
        losses(model, 1, "xpu", recipe.dtype, recipe.rate)
    assert sum(event.name == recipe.product for event in trace.events()) >= 2
