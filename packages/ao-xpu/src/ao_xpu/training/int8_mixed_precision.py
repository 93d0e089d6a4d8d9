"""Int8MixedPrecisionTrainingLinearWeight on xpu: training with int8 products."""

from __future__ import annotations

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
