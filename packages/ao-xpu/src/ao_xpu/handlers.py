"""What the handlers of torchao's tensor classes share."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch.nn.functional as F
from torch import Tensor

# The arguments are the function, the tensor types, its arguments and its keyword arguments.
Handler = Callable[[Any, Any, Any, Any], Any]


def arguments_of_linear(args: Any, kwargs: Any) -> tuple[Any, Any, Tensor | None]:
    """Return input, weight and bias of a call of ``linear``, however they are passed."""
    names = ("input", "weight", "bias")
    values = dict(zip(names, args, strict=False)) | (kwargs or {})
    return values["input"], values["weight"], values.get("bias")


def scaled_input(input: Tensor, weight: Any) -> Tensor:
    """Return the activations, multiplied by the scale that AWQ and SmoothQuant leave in a weight."""
    if weight.act_pre_scale is None:
        return input
    return (input * weight.act_pre_scale).to(input.dtype)


def empty_product(input: Tensor, weight: Any, bias: Tensor | None) -> Tensor:
    """Return the product of activations without elements: torchao's quantizers need a minimum."""
    return F.linear(input, weight.dequantize().to(input.dtype), bias)
