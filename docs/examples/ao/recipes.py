"""Ways to quantize a model with TorchAO: each is a function of the model, some also of texts to observe."""

import contextlib
import io
from collections.abc import Callable
from functools import partial

from torch import nn
from torchao.prototype.awq import AWQConfig
from torchao.prototype.gptq import GPTQConfig
from torchao.quantization import (
    Float8DynamicActivationFloat8WeightConfig,
    Float8WeightOnlyConfig,
    Int4WeightOnlyConfig,
    Int8DynamicActivationInt8WeightConfig,
    Int8WeightOnlyConfig,
    PerRow,
    quantize_,
)
from torchao.quantization.qat import QATConfig

Observe = Callable[[nn.Module], None]
PACKINGS = ("plain", "preshuffled", "plain_int32", "tile_packed_to_4d")


def int4(packing: str = "plain", group: int = 128, algorithm: str = "tinygemm"):
    return Int4WeightOnlyConfig(
        group_size=group, int4_packing_format=packing, int4_choose_qparams_algorithm=algorithm
    )


def round_to_nearest(config, model: nn.Module, observe: Observe) -> None:
    """Quantize each weight for itself."""
    quantize_(model, config)


def awq(config, model: nn.Module, observe: Observe) -> None:
    """Scale the inputs of each layer so that those that matter lose least."""
    quantize_(model, AWQConfig(config, step="prepare"))
    observe(model)
    quantize_(model, AWQConfig(config, step="convert"))


def gptq(config, model: nn.Module, observe: Observe) -> None:
    """Quantize column by column; the columns that are left make up for the error."""
    quantize_(model, GPTQConfig(step="observe", base_config=config))
    observe(model)
    with contextlib.redirect_stdout(io.StringIO()):  # it prints a line for each layer
        quantize_(model, GPTQConfig(step="convert", base_config=config))


def after_training(group: int) -> dict[str, Callable[[nn.Module, Observe], None]]:
    """Return the recipes that need no training, by name."""
    simple = {
        "int8 weight-only": Int8WeightOnlyConfig(),
        "int8 dynamic": Int8DynamicActivationInt8WeightConfig(),
        "fp8 weight-only": Float8WeightOnlyConfig(),
        "fp8 row": Float8DynamicActivationFloat8WeightConfig(granularity=PerRow()),
        **{f"int4 {packing}": int4(packing, group) for packing in PACKINGS},
        "int4 plain_int32, HQQ": int4("plain_int32", group, "hqq"),
        "int4 tile_packed_to_4d, HQQ": int4("tile_packed_to_4d", group, "hqq"),
    }
    return {
        **{name: partial(round_to_nearest, config) for name, config in simple.items()},
        "int4 plain, AWQ": partial(awq, int4("plain", group)),
        "int4 plain, GPTQ": partial(gptq, int4("plain", group)),
        "int8 weight-only, GPTQ": partial(gptq, Int8WeightOnlyConfig()),
    }


def prepare(model: nn.Module, packing: str, group: int) -> None:
    """Let training see what int4 will make of the weights (QAT)."""
    quantize_(model, QATConfig(int4(packing, group), step="prepare"))


def convert(model: nn.Module, packing: str, group: int) -> None:
    """Quantize the weights of a model that was prepared and trained."""
    quantize_(model, QATConfig(int4(packing, group), step="convert"))
