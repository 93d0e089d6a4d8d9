"""Int4Tensor on xpu, the packing format `plain`: signed numbers, two a byte, the first in the low half.

An element is ``scale * number + zero_point``; scales and zero points have the shape [K / group, N].
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..handlers import Handler
from ..linear_plans import Plan, planned_linear, scaled_activations
from ..operators.low_bit_linear import dequantize_low_bit, low_bit_linear, low_bit_plan
from .fp8_activations import with_fp8_activations
from .packing import pack
from .quantizers import quantize_asymmetric, quantize_symmetric, quantizer


def require_batches(input: Tensor, weight: Any) -> None:
    """Raise ValueError unless both have three dimensions and as many batches."""
    if input.dim() != 3 or weight.dim() != 3 or input.shape[0] != weight.shape[0]:
        raise ValueError(f"bmm of {tuple(input.shape)} and {tuple(weight.shape)}")


def from_hp(stock: Any) -> Any:
    """Quantize a weight on xpu without mslk, to what mslk's quantizer gives."""

    def make(cls: Any, w: Tensor, block_size: list[int], activation_dtype: torch.dtype) -> Any:
        if activation_dtype == torch.float8_e4m3fn:
            numbers, scale = quantize_symmetric(w, block_size[-1])
            zero_point = torch.zeros_like(scale)
        else:
            numbers, scale, zero_point = quantize_asymmetric(w, block_size[-1])
        return cls(
            pack(numbers),
            scale.mT.contiguous().to(w.dtype),
            zero_point.mT.contiguous().to(w.dtype),
            block_size,
            w.shape,
            activation_dtype=activation_dtype,
        )

    return quantizer(stock, make)


def _plan(weight: Any) -> Plan | None:
    """Plan products by the weight as it is stored; activations of fp8 are quantized by rows."""
    if not weight.qdata.is_xpu:
        return None
    if weight.dim() != 2 or weight.block_size[-1] == 1:
        raise NotImplementedError("linear with an Int4Tensor that is transposed or no matrix")
    plan = low_bit_plan("int4", weight.scale.t(), None, weight.zero_point.t())
    if weight.activation_dtype == torch.float8_e4m3fn:
        plan = with_fp8_activations(plan)
    return scaled_activations(plan, weight.act_pre_scale)


linear = planned_linear(_plan)


def bmm(stock: Handler) -> Handler:
    """Multiply batches; as in torchao, the weight is [B, N, K], transposed as a linear layer's."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        input, weight = args
        if weight.device.type != "xpu":
            return stock(func, types, args, kwargs)
        require_batches(input, weight)
        parts = zip(input, weight.qdata, weight.scale, weight.zero_point, strict=True)
        products = [
            low_bit_linear(x, data, "int4", scale.t(), offset=zero_point.t())
            for x, data, scale, zero_point in parts
        ]
        rows = input.new_empty(0, input.shape[1], weight.shape[1])
        return torch.stack(products) if products else rows

    return handler


def dequantize(stock: Any) -> Any:
    """Add the method `dequantize` for weights on xpu; the class does not have it."""

    def elements(self: Any, output_dtype: torch.dtype | None = None) -> Tensor:
        if self.device.type != "xpu":
            return stock(self)
        return _elements(self, output_dtype or self.dtype)

    return elements


def _elements(weight: Any, dtype: torch.dtype) -> Tensor:
    if weight.dim() == 3:
        parts = zip(weight.qdata, weight.scale, weight.zero_point, strict=True)
    else:
        parts = zip([weight.qdata], [weight.scale], [weight.zero_point], strict=True)
    matrices = [
        dequantize_low_bit(data, "int4", scale.t(), None, zero_point.t(), dtype)
        for data, scale, zero_point in parts
    ]
    return torch.stack(matrices) if weight.dim() == 3 else matrices[0]
