"""Products of activations that are quantized row by row, to the type of the weight, on xpu."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling

_FLOATS = (torch.float32, torch.float16, torch.bfloat16)
_product = torch.ops.torch_xpu.dynamic_linear.default


def dynamic_linear(input: Tensor, weight: Tensor, scale: Tensor, bias: Tensor | None) -> Tensor:
    """Quantize the rows of ``input`` to the weight's type; return their product by the weight, on xpu.

    The weight [N, K] is int8 or float8_e4m3fn with scales [N, 1].
    """
    if torch.is_autocast_enabled("xpu"):
        input = input.to(torch.get_autocast_dtype("xpu"))
    if bias is not None and bias.dtype != input.dtype:
        bias = bias.to(input.dtype)
    return _product(input, weight, scale, bias)


def has_rows(x: Tensor, granularity: Any) -> bool:
    """Return whether ``quantize_rows`` of torch-xpu takes the tensor: a scale belongs to a row."""
    from torchao.quantization.granularity import PerRow

    return isinstance(granularity, PerRow) and _has_rows_along(x, granularity.dim)


def _has_rows_along(x: Tensor, dim: int) -> bool:
    return x.is_xpu and (dim == -1 or dim == x.dim() - 1) and x.numel() > 0 and x.dtype in _FLOATS


def dynamic_plan(
    weight: Tensor, scale: Tensor, granularity: Any
) -> Callable[[Tensor, Tensor, Tensor | None], Any] | None:
    """Return ``dynamic_linear`` by such weights and scales as a function of input, weight and bias, or None.

    Where activations want a gradient, and for activations of other types, it returns NotImplemented.
    """
    from torchao.quantization.granularity import PerRow

    has_scale = scale.dtype == torch.float32 and scale.shape == (weight.shape[0], 1)
    if weight.dim() != 2 or not has_scale or not isinstance(granularity, PerRow):
        return None
    dim = granularity.dim

    def multiply(input: Tensor, weight: Tensor, bias: Tensor | None) -> Any:
        is_recording = torch.is_grad_enabled()
        if (input.requires_grad and is_recording) or not _has_rows_along(input, dim):
            return NotImplemented
        if bias is not None and bias.requires_grad and is_recording:
            product = dynamic_linear(input, weight, scale, None)
            return product + bias.to(product.dtype)
        return dynamic_linear(input, weight, scale, bias)

    if dim != -1 or is_compiling() or type(scale) is not Tensor:
        return multiply
    from torch_xpu._device import bind_dynamic_linear

    return bind_dynamic_linear(multiply, scale)
