"""Quantization-aware training on xpu: what to simulate for configs that torchao does not infer it for."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def prepare(stock: Any) -> Any:
    """Prepare a layer on xpu also for int4 of every packing format, and for int8."""

    def transform(module: torch.nn.Module, config: Any) -> Any:
        weight = getattr(module, "weight", None)
        if weight is not None and weight.device.type == "xpu" and config.step == "prepare":
            simulated = _simulated(config.base_config)
            if simulated is not None:
                activations, weights = simulated
                config = type(config)(None, activations, weights, step="prepare")
        return stock(module, config)

    return transform


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
        least, greatest = _DTYPE_TO_QVALUE_BOUNDS[self.config.dtype]
        if self._should_compute_qparams():
            self.scale, self.zero_point = choose_qparams_affine(
                x,
                MappingType.SYMMETRIC,
                _get_per_token_block_size(x),
                self.config.dtype,
                least,
                greatest,
                eps=torch.finfo(torch.float32).eps,
                scale_dtype=torch.float32,
                zero_point_dtype=torch.int32,
                keepdim=True,
            )
        return _fake_quantize_per_token(x, self.scale, self.zero_point, least, greatest)

    return forward


def _simulated(config: Any) -> tuple[Any, Any] | None:
    """Return what to simulate for activations and weights; None leaves it to torchao."""
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
    from torchao.quantization.qat.fake_quantize_config import Int4WeightFakeQuantizeConfig

    if isinstance(config, Int4WeightOnlyConfig):
        group = config.group_size
        if config.int4_packing_format == "plain_int32":
            return None, IntxFakeQuantizeConfig(torch.int4, group_size=group, is_symmetric=False)
        if config.int4_packing_format == "tile_packed_to_4d":
            return None, Int4WeightFakeQuantizeConfig(group, torch.bfloat16)
        return None
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
