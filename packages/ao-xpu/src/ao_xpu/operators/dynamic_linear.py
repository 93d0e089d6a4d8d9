"""Products of activations that are quantized row by row, to the type of the weight, on xpu."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor


def dynamic_linear(input: Tensor, weight: Tensor, scale: Tensor, bias: Tensor | None) -> Tensor:
    """Quantize the rows of ``input`` to the weight's type; return their product by the weight, on xpu.

    The weight [N, K] is int8 or float8_e4m3fn with scales [N, 1].
    """
    if torch.is_autocast_enabled(input.device.type):
        input = input.to(torch.get_autocast_dtype(input.device.type))
    bias = bias if bias is None else bias.to(input.dtype)
    return torch.ops.torch_xpu.dynamic_linear(input, weight, scale, bias)


def has_rows(x: Tensor, granularity: Any) -> bool:
    """Return whether ``quantize_rows`` of torch-xpu takes the tensor: a scale belongs to a row."""
    from torchao.quantization.granularity import PerRow

    return (
        x.device.type == "xpu"
        and isinstance(granularity, PerRow)
        and granularity.dim in (-1, x.dim() - 1)
        and x.numel() > 0
        and x.dtype in (torch.float32, torch.float16, torch.bfloat16)
    )


def quantizes_rows(input: Tensor, weight: Tensor, scale: Tensor, granularity: Any) -> bool:
    """Return whether ``dynamic_linear`` may compute the product. It has no gradient."""
    return (
        has_rows(input, granularity)
        and weight.dim() == 2
        and scale.shape == (weight.shape[0], 1)
        and scale.dtype == torch.float32
        and not (torch.is_grad_enabled() and input.requires_grad)
    )
