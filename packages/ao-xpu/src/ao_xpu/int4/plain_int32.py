"""Int4PlainInt32Tensor: numbers 0 to 15, eight an int32, the first in the lowest bits.

An element is ``scale * (number - zero_point)``; scales and zero points have the shape [K / group, N]. Zero
points are int8, or f32 where HQQ chose them. All here but quantization also serves tensors that were moved to
the CPU.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import hqq
from ..errors import DoesNotFitError
from ..handlers import Handler, scaled_sum
from ..linear_plans import Plan, planned_linear, scaled_activations
from ..operators.low_bit_linear import dequantize_low_bit, low_bit_plan
from .packing import pack_words
from .quantizers import PIECE, require_groups

DEVICES = ("xpu", "cpu")


def from_numbers(
    cls: Any, numbers: Tensor, scale: Tensor, zero_point: Tensor, block_size: list[int]
) -> Any:
    """Return the tensor of numbers 0 to 15 [N, K] with parameters [N, K / group]."""
    data = pack_words(numbers)
    parameters = (scale.t().contiguous(), zero_point.t().contiguous())
    return cls(data, *parameters, block_size, numbers.shape)


def require_fitting(weight: Tensor, group: int) -> None:
    """Raise DoesNotFitError for what is no matrix of 16-bit floats with rows of whole words."""
    if weight.dim() != 2 or weight.dtype not in (torch.bfloat16, torch.float16):
        dtype = str(weight.dtype).removeprefix("torch.")
        raise DoesNotFitError(f"plain_int32 takes matrices of 16-bit floats, not of {dtype}")
    if weight.shape[-1] % 8:
        raise DoesNotFitError(f"rows of {weight.shape[-1]} elements are no words of 8")
    require_groups(weight, [1, group])


def from_hp(stock: Any) -> Any:
    """Quantize some rows of a matrix on xpu at a time, so that copies in f32 are small beside it."""

    def quantize(cls: Any, w: Tensor, block_size: list[int]) -> Any:
        if w.device.type != "xpu" or w.dim() != 2 or w.numel() <= PIECE:
            return stock.__func__(cls, w, block_size)
        pieces = w.detach().split(max(1, PIECE // w.shape[1]))
        return torch.cat([stock.__func__(cls, piece, block_size) for piece in pieces])

    return classmethod(quantize)


def quantize_hqq(cls: Any, weight: Tensor, block_size: list[int]) -> Any:
    """Quantize a fitting weight on xpu by half-quadratic quantization; zero points stay floats."""
    numbers, scale, zero_point = hqq.quantize(weight, 4, block_size[-1])
    return from_numbers(cls, numbers, scale.to(weight.dtype), zero_point, block_size)


def _plan(weight: Any) -> Plan | None:
    """Plan products by the weight as it is stored."""
    if weight.qdata.device.type not in DEVICES:
        return None
    if weight.dim() != 2:
        raise ValueError(f"linear with an int4 weight of {weight.dim()} dimensions")
    return scaled_activations(_plan_of_rows(weight), weight.act_pre_scale)


def _plan_of_rows(weight: Any) -> Plan:
    if weight.block_size[-1] != 1:
        return low_bit_plan("uint4", weight.scale.t(), weight.zero_point.t())
    # Groups along the rows of the result: no product takes them.
    scale, zero_point = weight.scale, weight.zero_point

    def multiply(input: Tensor, data: Tensor, bias: Tensor | None) -> Tensor:
        elements = dequantize_low_bit(data.t(), "uint4", scale, zero_point, dtype=input.dtype)
        return torch.nn.functional.linear(input, elements.t(), bias)

    return multiply


linear = planned_linear(_plan)


def mm(stock: Handler) -> Handler:
    """Multiply by the transpose of a weight, `x @ weight.t()`, as linear does."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        input, weight = args
        if weight.device.type not in DEVICES:
            return stock(func, types, args, kwargs)
        return _multiply_by_transpose(input, weight)

    return handler


def addmm(stock: Handler) -> Handler:
    """Multiply by the transpose of a weight, and add a bias."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        bias, input, weight = args
        if weight.device.type not in DEVICES:
            return stock(func, types, args, kwargs)
        return scaled_sum(bias, _multiply_by_transpose(input, weight), kwargs)

    return handler


def _multiply_by_transpose(input: Tensor, weight: Any) -> Tensor:
    rows = weight.t()
    plan = scaled_activations(_plan_of_rows(rows), weight.act_pre_scale)
    return plan(input, rows.qdata, None)


def dequantize(stock: Any) -> Any:
    """Add the method `dequantize`, which the class does not have."""

    def elements(self: Any, output_dtype: torch.dtype | None = None) -> Tensor:
        if self.device.type not in DEVICES:
            return stock(self)
        return _elements(self, output_dtype or self.dtype)

    return elements


def _elements(weight: Any, dtype: torch.dtype) -> Tensor:
    if weight.dim() == 1:
        parameters = (weight.scale.unsqueeze(0), weight.zero_point.unsqueeze(0))
        data = weight.qdata.unsqueeze(0)
        return dequantize_low_bit(data, "uint4", *parameters, dtype=dtype).squeeze(0)
    data, scale, zero_point = weight.qdata, weight.scale, weight.zero_point
    if weight.block_size[-1] == 1:
        return dequantize_low_bit(data.t(), "uint4", scale, zero_point, dtype=dtype).t()
    return dequantize_low_bit(data, "uint4", scale.t(), zero_point.t(), dtype=dtype)
