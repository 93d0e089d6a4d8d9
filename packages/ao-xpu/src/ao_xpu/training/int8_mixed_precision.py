"""Int8MixedPrecisionTrainingLinearWeight on xpu: training with int8 products."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from ..handlers import Handler, arguments_of_linear


def linear(stock: Handler) -> Handler:
    """Multiply quantized activations and weights in training, which torchao's table never finds."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from torchao.prototype.quantized_training import int8_mixed_precision

        input, weight, bias = arguments_of_linear(args, kwargs)
        if input.device.type != "xpu" or weight.device.type != "xpu":
            return stock(func, types, args, kwargs)
        if torch.is_autocast_enabled("xpu"):
            dtype = torch.get_autocast_dtype("xpu")
            input = input.to(dtype)
            bias = bias if bias is None else bias.to(dtype)
        function = int8_mixed_precision._Int8MixedPrecisionTrainingLinearFunction
        return function.apply(input, weight, bias)

    return handler


def scaled_product(stock: Callable[..., torch.Tensor]) -> Callable[..., torch.Tensor]:
    """Multiply int8 matrices by PyTorch's operator, also on the CPU.

    Without Triton torchao does so; with it, torchao calls a kernel for CUDA, whatever the device.
    """

    @functools.wraps(stock)
    def scaled_int8_mm(  # the names are torchao's
        A: torch.Tensor,  # noqa: N803
        B: torch.Tensor,  # noqa: N803
        row_scale: torch.Tensor,
        col_scale: torch.Tensor,
    ) -> torch.Tensor:
        if A.is_cuda:
            return stock(A, B, row_scale, col_scale)
        return torch._int_mm(A, B) * col_scale.view(-1) * row_scale.view(-1, 1)

    return scaled_int8_mm
