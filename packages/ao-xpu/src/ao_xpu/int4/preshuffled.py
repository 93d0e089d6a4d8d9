"""Int4PreshuffledTensor on xpu: the data of the packing format `plain`, since no kernel wants another order.

With bf16 activations an element is ``group_scale * number + group_zero``. With fp8 activations it is
``row_scale * group_scale * number``; the group scales are e4m3. Both have the shape [..., K / group, N].
The data are uint8. CUDA's, which are shuffled, are int8: xpu rejects them.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..handlers import Handler
from ..linear_plans import Plan, planned_linear
from ..operators.low_bit_linear import low_bit_plan
from .fp8_activations import quantized_rows, with_fp8_activations
from .packing import pack
from .plain import require_batches
from .quantizers import quantize_asymmetric, quantize_symmetric, quantizer


def from_hp(stock: Any) -> Any:
    """Quantize a weight on xpu without mslk."""

    def make(cls: Any, w: Tensor, block_size: list[int], activation_dtype: torch.dtype) -> Any:
        if activation_dtype == torch.bfloat16:
            numbers, scale, zero = quantize_asymmetric(w, block_size[-1])
            group_scale = scale.mT.contiguous().to(w.dtype)
            group_zero = zero.mT.contiguous().to(w.dtype)
            data = pack(numbers).view(torch.uint8)
            return cls(data, group_scale, block_size, w.shape, group_zero=group_zero)
        rows, row_scale = quantized_rows(w.detach())
        numbers, scale = quantize_symmetric(rows, block_size[-1])
        group_scale = scale.mT.contiguous().to(torch.float8_e4m3fn)
        row_scale = row_scale.squeeze(-1)
        data = pack(numbers).view(torch.uint8)
        return cls(data, group_scale, block_size, w.shape, row_scale=row_scale)

    return quantizer(stock, make)


def from_int4_tensor(stock: Any) -> Any:
    """Convert an Int4Tensor on xpu; with fp8 activations its scales become e4m3 by rows."""

    def convert(cls: Any, tensor: Any) -> Any:
        if tensor.device.type != "xpu":
            return stock.__func__(cls, tensor)
        data, block_size, shape = tensor.qdata.view(torch.uint8), tensor.block_size, tensor.shape
        if tensor.activation_dtype != torch.float8_e4m3fn:
            return cls(data, tensor.scale, block_size, shape, group_zero=tensor.zero_point)
        row_scale = tensor.scale.float().abs().amax(-2)
        group_scale = (tensor.scale / row_scale.unsqueeze(-2)).to(torch.float8_e4m3fn)
        return cls(data, group_scale, block_size, shape, row_scale=row_scale)

    return classmethod(convert)


def _plan(weight: Any) -> Plan | None:
    """Plan products by the weight as it is stored."""
    if not weight.qdata.is_xpu:
        return None
    if weight.dim() != 2:
        raise NotImplementedError("linear with an Int4PreshuffledTensor that is no matrix")
    return _plan_of_parts(weight.qdata, weight.group_scale, weight.group_zero, weight.row_scale)


linear = planned_linear(_plan)


def bmm(stock: Handler) -> Handler:
    """Multiply batches; as in torchao, the weight is [B, N, K], transposed as a linear layer's."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        input, weight = args
        if weight.device.type != "xpu":
            return stock(func, types, args, kwargs)
        require_batches(input, weight)
        result = input.new_empty(*input.shape[:2], weight.shape[1])
        for i, x in enumerate(input):
            zero = None if weight.group_zero is None else weight.group_zero[i]
            row_scale = None if weight.row_scale is None else weight.row_scale[i]
            data = weight.qdata[i]
            result[i] = _plan_of_parts(data, weight.group_scale[i], zero, row_scale)(x, data, None)
        return result

    return handler


def _plan_of_parts(
    data: Tensor, group_scale: Tensor, group_zero: Tensor | None, row_scale: Tensor | None
) -> Plan:
    """Plan products by a matrix with zero points of groups or with scales of rows."""
    if data.dtype != torch.uint8:
        raise ValueError("a preshuffled weight in CUDA's order: quantize it on xpu")
    scale = group_scale.t()
    if group_zero is not None:
        return low_bit_plan("int4", scale, None, group_zero.t())
    return with_fp8_activations(low_bit_plan("int4", scale), row_scale)
