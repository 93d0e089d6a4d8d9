"""float8 on xpu: weights under float activations, and products with scales of blocks."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .handlers import Handler, arguments_of
from .linear_plans import Plan, planned_linear
from .operators.dynamic_linear import dynamic_plan, has_rows
from .operators.low_bit_linear import FLOAT_FORMATS, fits, low_bit_plan


def from_hp(stock: Any) -> Any:
    """Quantize rows by one kernel, without copies of all numbers in f32."""

    def make(cls: Any, *args: Any, **kwargs: Any) -> Any:
        from torchao.quantization.quantize_.common import KernelPreference
        from torchao.quantization.utils import get_block_size

        given = arguments_of(stock, args, kwargs)
        x, granularity = given["hp_tensor"], given["granularity"]
        is_e4m3 = given["float8_dtype"] == torch.float8_e4m3fn
        is_limited = given["hp_value_lb"] is not None or given["hp_value_ub"] is not None
        wants_mslk = given["kernel_preference"] is KernelPreference.MSLK
        if is_limited or wants_mslk or not (is_e4m3 and has_rows(x, granularity)):
            return stock.__func__(cls, *args, **kwargs)
        numbers, scale = torch.ops.torch_xpu.quantize_rows(x.detach(), torch.float8_e4m3fn)
        options = ("mm_config", "act_quant_kwargs", "kernel_preference")
        return cls(
            numbers,
            scale,
            block_size=list(get_block_size(x.shape, granularity)),
            dtype=x.dtype,
            **{name: given[name] for name in options},
        )

    return classmethod(make)


def _plan(weight: Any) -> Plan | None:
    """Plan products by a float8 weight as it is stored; None where torchao quantizes the activations."""
    data, scale = weight.qdata, weight.scale
    if not data.is_xpu:
        return None
    if weight.act_quant_kwargs is not None:
        return _dynamic_plan(weight)
    if data.dtype not in FLOAT_FORMATS or not fits(data, scale):
        return None
    return low_bit_plan(FLOAT_FORMATS[data.dtype], scale)


def _dynamic_plan(weight: Any) -> Plan | None:
    """Plan products of activations that are quantized row by row, to e4m3, with any scales."""
    how = weight.act_quant_kwargs
    is_e4m3 = how.float8_dtype == weight.qdata.dtype == torch.float8_e4m3fn
    if not is_e4m3 or how.hp_value_lb is not None or how.hp_value_ub is not None:
        return None
    return dynamic_plan(weight.qdata, weight.scale, how.granularity)


linear = planned_linear(_plan)


def bmm(stock: Handler) -> Handler:
    """Multiply batches of quantized activations by weights [B, K, N] with a scale for each column."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from torchao.quantization.quantize_.workflows.float8 import float8_tensor

        input, weight = args
        if weight.device.type != "xpu" or weight.act_quant_kwargs is None:
            return stock(func, types, args, kwargs)
        if weight.dim() != 3 or list(weight.block_size) != [1, weight.shape[1], 1]:
            raise NotImplementedError("bmm of float8 takes weights with a scale for each column")
        if input.numel() == 0:
            return torch.bmm(input, weight.dequantize().to(input.dtype))
        quantize = float8_tensor._choose_quant_func_and_quantize_tensor
        rows = quantize(input, weight.act_quant_kwargs)
        if rows.scale.shape != (*input.shape[:2], 1):
            raise NotImplementedError("bmm of float8 takes activations with a scale for each row")
        result = input.new_empty(*input.shape[:2], weight.shape[2])
        for i, columns in enumerate(weight.qdata.mT.contiguous()):
            scales = rows.scale[i].contiguous(), weight.scale[i].contiguous()
            result[i] = torch._scaled_mm(rows.qdata[i], columns.t(), *scales, out_dtype=input.dtype)
        return result

    return handler


def blockwise_product(stock: Any) -> Any:
    """Multiply float8 matrices with scales of 1x128 and 128x128 blocks without Triton, into bf16."""

    def multiply(a: Tensor, a_s: Tensor, b: Tensor, b_s: Tensor, block_size: int = 128) -> Tensor:
        if a.device.type != "xpu":
            return stock(a, a_s, b, b_s, block_size)
        if block_size != 128:
            raise ValueError(f"float8 products on xpu have blocks of 128, not {block_size}")
        columns = a.shape[-1]
        rows = a.reshape(-1, columns)
        scales = a_s.reshape(rows.shape[0], columns // 128)
        product = torch._scaled_mm(rows, b.t(), scales, b_s.t(), out_dtype=torch.bfloat16)
        return product.view(*a.shape[:-1], b.shape[0])

    return multiply
