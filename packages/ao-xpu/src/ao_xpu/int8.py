"""Int8Tensor on xpu: products of integers, and weights under float activations."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._dynamo import is_compiling

from .handlers import arguments_of
from .linear_plans import Plan, planned_linear, scaled_activations
from .operators.dynamic_linear import dynamic_plan, has_rows
from .operators.low_bit_linear import fits, low_bit_plan


def safe_int_mm(stock: Any) -> Any:
    """Multiply int8 matrices on the device, of any sizes and strides; an error is raised, not replaced."""

    def multiply(input: Tensor, mat2: Tensor) -> Tensor:
        is_int8 = input.dtype == mat2.dtype == torch.int8
        if input.device.type != "xpu" or not is_int8 or is_compiling():
            return stock(input, mat2)
        return torch._int_mm(input, mat2)

    return multiply


def from_hp(stock: Any) -> Any:
    """Quantize rows by one kernel, without copies of all numbers in f32."""

    def make(cls: Any, *args: Any, **kwargs: Any) -> Any:
        from torchao.quantization.quant_primitives import MappingType
        from torchao.quantization.utils import get_block_size

        given = arguments_of(stock, args, kwargs)
        x, granularity = given["hp_tensor"], given["granularity"]
        symmetric = given["mapping_type"] is MappingType.SYMMETRIC
        as_they_come = given["scale"] is None and not given["reduce_range"]
        if not (symmetric and as_they_come and has_rows(x, granularity)):
            return stock.__func__(cls, *args, **kwargs)
        numbers, scale = torch.ops.torch_xpu.quantize_rows(x.detach(), torch.int8)
        options = ("act_quant_kwargs", "act_quant_scale", "act_quant_zero_point", "act_pre_scale")
        return cls(
            numbers,
            scale,
            list(get_block_size(x.shape, granularity)),
            x.dtype,
            zero_point=torch.zeros_like(scale, dtype=torch.int8),
            **{name: given[name] for name in options},
        )

    return classmethod(make)


def _plan(weight: Any) -> Plan | None:
    """Plan products by an int8 weight as it is stored; None where torchao quantizes the activations."""
    data, scale = weight.qdata, weight.scale
    if not data.is_xpu:
        return None
    if weight.act_quant_kwargs is not None:
        plan = _dynamic_plan(weight)
    elif fits(data, scale, weight.zero_point):
        plan = low_bit_plan("int8", scale, weight.zero_point)
    else:
        plan = None
    return plan and scaled_activations(plan, weight.act_pre_scale)


def _dynamic_plan(weight: Any) -> Plan | None:
    """Plan products of activations that are quantized symmetrically, row by row, as they come."""
    from torchao.quantization.quant_primitives import MappingType

    how = weight.act_quant_kwargs
    is_symmetric = how.mapping_type is MappingType.SYMMETRIC and not how.reduce_range
    if weight.act_quant_scale is not None or not is_symmetric:
        return None
    return dynamic_plan(weight.qdata, weight.scale, how.granularity)


linear = planned_linear(_plan)
