"""Simulation of a weight by quantizing it: training sees what the packing format stores, to the bit.

A weight of f32 is simulated as the bf16 that it has to become before it is converted: both packing formats
that are simulated here take 16-bit floats alone.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import torch
from torch import Tensor
from torchao.quantization import Int4WeightOnlyConfig
from torchao.quantization.qat.fake_quantize_config import FakeQuantizeConfigBase
from torchao.quantization.qat.fake_quantizer import FakeQuantizerBase


@dataclass
class StoredWeightConfig(FakeQuantizeConfigBase):
    """The config that the weight is to be converted by."""

    base_config: Int4WeightOnlyConfig


class StoredWeight(FakeQuantizerBase):
    """Quantize and dequantize a weight; gradients pass unchanged."""

    def __init__(self, config: StoredWeightConfig) -> None:
        super().__init__()
        self.config = config
        self.enabled = True

    def forward(self, weight: Tensor) -> Tensor:
        """Return what is stored of the weight."""
        return _Simulate.apply(weight, self.config.base_config) if self.enabled else weight


class _Simulate(torch.autograd.Function):
    @staticmethod
    def forward(ctx: Any, weight: Tensor, config: Int4WeightOnlyConfig) -> Tensor:
        from torchao.quantization.quant_api import _int4_weight_only_quantize_tensor

        stored = weight.detach()
        if stored.dtype == torch.float32:
            stored = stored.to(torch.bfloat16)
        return _int4_weight_only_quantize_tensor(stored, config).dequantize(weight.dtype)

    @staticmethod
    def backward(ctx: Any, gradient: Tensor) -> tuple[Tensor, None]:
        return gradient, None
