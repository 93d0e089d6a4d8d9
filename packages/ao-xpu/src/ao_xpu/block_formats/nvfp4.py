"""NVFP4 on xpu: blocks of 16 numbers of four bits with a scale of eight, and a factor of all numbers."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..handlers import Handler
from ..operators.low_bit_linear import low_bit_linear
from . import block_scales


def linear(stock: Handler) -> Handler:
    """Multiply by the weight as it is stored; round activations to their blocks if the config asks for it."""
    return block_scales.linear(stock, _product)


def mm(stock: Handler) -> Handler:
    """Do so by a transposed weight."""
    return block_scales.mm(stock, _product)


def _product(input: Tensor, weight: Any, is_transposed: bool, bias: Tensor | None = None) -> Tensor:
    how, factor = weight.act_quant_kwargs, weight.per_tensor_scale
    if how is not None and input.numel():
        own = _factor(input) if how.use_dynamic_per_tensor_scale else weight.act_per_tensor_scale
        input = torch.ops.torch_xpu.round_blocks(input, how.block_size, "e2m1", "e4m3", own)
        factors = [f for f in (own, factor) if f is not None]
        factor = factors[0] * factors[1] if len(factors) == 2 else next(iter(factors), None)
    numbers, scale = block_scales.plain_rows(weight, is_transposed)
    return low_bit_linear(input, numbers, "e2m1", scale, None, None, bias, factor)


def _factor(x: Tensor) -> Tensor:
    """Return the scale by which the largest scale of a block is the largest number of e4m3."""
    from torchao.prototype.mx_formats.nvfp4_tensor import per_tensor_amax_to_scale

    return per_tensor_amax_to_scale(torch.linalg.vector_norm(x, float("inf")))


def transform(stock: Any) -> Any:
    """Apply the config of weights and activations to a module. torchao asserts a device of CUDA."""
    prepare_or_convert = block_scales.quantize(stock)

    def handler(module: torch.nn.Module, config: Any, *, parameter_name: str = "weight") -> Any:
        weight = getattr(module, parameter_name)
        if weight.device.type != "xpu" or config.step is not None:
            return prepare_or_convert(module, config, parameter_name=parameter_name)
        from torchao.prototype.mx_formats.nvfp4_tensor import (
            NVFP4Tensor,
            QuantizeTensorToNVFP4Kwargs,
        )

        if weight.dim() not in (2, 3) or weight.shape[-2] % 16 or weight.shape[-1] % 16:
            shape = tuple(weight.shape)
            raise RuntimeError(f"NVFP4 takes weights of multiples of 16 by 16, not {shape}")
        is_dynamic = config.use_dynamic_per_tensor_scale
        quantized = NVFP4Tensor.to_nvfp4(
            weight.detach().contiguous(),
            per_tensor_scale=_factor_of_weight(weight.detach()) if is_dynamic else None,
            act_quant_kwargs=QuantizeTensorToNVFP4Kwargs(use_dynamic_per_tensor_scale=is_dynamic),
        )
        setattr(module, parameter_name, torch.nn.Parameter(quantized, requires_grad=False))
        return module

    return handler


def _factor_of_weight(weight: Tensor) -> Tensor:
    """Return a factor for the matrix, or one for each matrix of a batch."""
    from torchao.prototype.mx_formats.nvfp4_tensor import per_tensor_amax_to_scale

    if weight.dim() == 2:
        return _factor(weight)
    return per_tensor_amax_to_scale(weight.abs().amax((1, 2), keepdim=True))
