"""MX formats on xpu: blocks of 32 numbers of eight or four bits that share a power of two."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..handlers import Handler
from ..operators.low_bit_linear import FLOAT_FORMATS, low_bit_linear
from . import block_scales


def linear(stock: Handler) -> Handler:
    """Round activations to their blocks, and multiply by the weight as it is stored."""
    return _unless_emulated(stock, block_scales.linear(stock, _product), 1)


def mm(stock: Handler) -> Handler:
    """Do so by a transposed weight."""
    return _unless_emulated(stock, block_scales.mm(stock, _product), -1)


def _unless_emulated(stock: Handler, ours: Handler, place: int) -> Handler:
    """Take our handler if the argument at ``place`` is a weight that quantizes activations."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from torchao.quantization.quantize_.common.kernel_preference import KernelPreference

        weight = args[place]
        is_automatic = getattr(weight, "kernel_preference", None) is KernelPreference.AUTO
        is_dynamic = is_automatic and weight.act_quant_kwargs is not None
        takes = ours if is_dynamic and weight.elem_dtype in FLOAT_FORMATS else stock
        return takes(func, types, args, kwargs)

    return handler


def _product(input: Tensor, weight: Any, is_transposed: bool, bias: Tensor | None = None) -> Tensor:
    """Return the product in bf16, as torchao does; bf16 has rounded activations exactly."""
    how = weight.act_quant_kwargs
    format, scaling = FLOAT_FORMATS[how.elem_dtype], how.scaling_mode.value
    rounded = torch.ops.torch_xpu.round_blocks(input, how.block_size, format, scaling)
    numbers, scale = block_scales.plain_rows(weight, is_transposed)
    format = FLOAT_FORMATS[weight.elem_dtype]
    return low_bit_linear(rounded.to(torch.bfloat16), numbers, format, scale, None, None, bias)
