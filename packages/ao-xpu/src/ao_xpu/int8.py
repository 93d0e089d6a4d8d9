"""Int8Tensor on xpu: products of integers, and weights under float activations."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch._dynamo import is_compiling

from .handlers import Handler, arguments_of, arguments_of_linear, empty_product, scaled_input
from .operators.dynamic_linear import dynamic_linear, has_rows, quantizes_rows
from .operators.low_bit_linear import fits, low_bit_linear


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


def linear(stock: Handler) -> Handler:
    """Multiply float activations by an int8 weight as it is stored; torchao quantizes activations."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        input, weight, bias = arguments_of_linear(args, kwargs)
        if weight.device.type == "xpu" and input.numel() == 0:
            return empty_product(input, weight, bias)
        on_xpu = weight.device.type == "xpu"
        if on_xpu and _is_dynamic(input, weight):
            input = scaled_input(input, weight)
            return dynamic_linear(input, weight.qdata, weight.scale, bias)
        if (
            not on_xpu
            or weight.act_quant_kwargs is not None
            or not fits(weight.qdata, weight.scale, weight.zero_point)
        ):
            return stock(func, types, args, kwargs)
        input = scaled_input(input, weight)
        scale, zero_point = weight.scale, weight.zero_point
        return low_bit_linear(input, weight.qdata, "int8", scale, zero_point, None, bias)

    return handler


def _is_dynamic(input: Tensor, weight: Any) -> bool:
    """Return whether activations are quantized symmetrically, row by row, as they come."""
    from torchao.quantization.quant_primitives import MappingType

    how = weight.act_quant_kwargs
    return (
        how is not None
        and weight.act_quant_scale is None
        and how.mapping_type is MappingType.SYMMETRIC
        and not how.reduce_range
        and quantizes_rows(input, weight.qdata, weight.scale, how.granularity)
    )
