"""Quantization-aware training on xpu: fake quantizers of configs for which torchao infers none."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def prepare(stock: Any) -> Any:
    """Prepare a layer on xpu also for int4 of every packing format, and for int8."""

    def transform(module: torch.nn.Module, config: Any) -> Any:
        weight = getattr(module, "weight", None)
        if weight is not None and weight.device.type == "xpu" and config.step == "prepare":
            simulated = _simulated(config.base_config, weight)
            if simulated is not None:
                activations, weights = simulated
                config = type(config)(None, activations, weights, step="prepare")
        return stock(module, config)

    return transform


def from_config(stock: Any) -> Any:
    """Make the fake quantizer of a StoredWeightConfig, which `prepare` gives to int4 weights."""

    def quantizer(config: Any) -> Any:
        from . import stored_weight

        if isinstance(config, stored_weight.StoredWeightConfig):
            return stored_weight.StoredWeight(config)
        return stock(config)

    return staticmethod(quantizer)


def symmetric_per_token(stock: Any) -> Any:
    """Simulate symmetric int8 activations, with the scales that Int8Tensor chooses."""

    def forward(self: Any, x: Tensor) -> Tensor:
        from torchao.quantization.qat.utils import _fake_quantize_per_token
        from torchao.quantization.quant_primitives import (
            _DTYPE_TO_QVALUE_BOUNDS,
            MappingType,
            choose_qparams_affine,
        )
        from torchao.quantization.utils import _get_per_token_block_size

        if x.device.type != "xpu" or not self.config.is_symmetric:
            return stock(self, x)
        minimum, maximum = _DTYPE_TO_QVALUE_BOUNDS[self.config.dtype]
        if self._should_compute_qparams():
            self.scale, self.zero_point = choose_qparams_affine(
                x,
                MappingType.SYMMETRIC,
                _get_per_token_block_size(x),
                self.config.dtype,
                minimum,
                maximum,
                eps=torch.finfo(torch.float32).eps,
                scale_dtype=torch.float32,
                zero_point_dtype=torch.int32,
                keepdim=True,
            )
        return _fake_quantize_per_token(x, self.scale, self.zero_point, minimum, maximum)

    return forward


def _simulated(config: Any, weight: Tensor) -> tuple[Any, Any] | None:
    """Return the fake quantizers of activations and weights; None if torchao infers them."""
    from torchao.quantization import (
        Int4WeightOnlyConfig,
        Int8DynamicActivationInt8WeightConfig,
        Int8WeightOnlyConfig,
        MappingType,
        PerAxis,
        PerGroup,
        PerRow,
    )
    from torchao.quantization.qat import IntxFakeQuantizeConfig

    if isinstance(config, Int4WeightOnlyConfig):
        if config.int4_packing_format not in ("plain_int32", "tile_packed_to_4d"):
            return None
        from .stored_weight import StoredWeightConfig

        if weight.shape[-1] % config.group_size:
            raise ValueError(
                f"rows of {weight.shape[-1]} elements are no groups of {config.group_size}"
            )
        return None, StoredWeightConfig(config)
    eps = torch.finfo(torch.float32).eps
    if isinstance(config, Int8WeightOnlyConfig):
        granularity = config.granularity
        if isinstance(granularity, PerRow):
            granularity = PerAxis(0)
        if isinstance(granularity, PerAxis | PerGroup):
            return None, IntxFakeQuantizeConfig(torch.int8, granularity, eps=eps)
    if isinstance(config, Int8DynamicActivationInt8WeightConfig):
        from torchao.quantization import Int8Tensor

        pair = Int8Tensor._normalize_granularity(config.granularity)
        if all(isinstance(granularity, PerRow) for granularity in pair):
            is_symmetric = config.act_mapping_type == MappingType.SYMMETRIC
            activations = IntxFakeQuantizeConfig(
                torch.int8, "per_token", is_symmetric=is_symmetric, eps=eps
            )
            return activations, IntxFakeQuantizeConfig(torch.int8, PerAxis(0), eps=eps)
    return None
