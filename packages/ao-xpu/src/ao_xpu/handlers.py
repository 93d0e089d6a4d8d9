"""What the handlers of torchao's tensor classes share."""

from __future__ import annotations

import inspect
from collections.abc import Callable
from typing import Any

import torch
import torch.nn.functional as F
from torch import Tensor

# The arguments are the function, the tensor types, its arguments and its keyword arguments.
Handler = Callable[[Any, Any, Any, Any], Any]


def arguments_of_linear(args: Any, kwargs: Any) -> tuple[Any, Any, Tensor | None]:
    """Return input, weight and bias of a call of ``linear``, however they are passed."""
    names = ("input", "weight", "bias")
    values = dict(zip(names, args, strict=False)) | (kwargs or {})
    return values["input"], values["weight"], values.get("bias")


def empty_product(input: Tensor, weight: Any, bias: Tensor | None) -> Tensor:
    """Return the product of activations without elements: torchao's quantizers need a minimum."""
    return F.linear(input, weight.dequantize().to(input.dtype), bias)


def linear_of_rows(func: Any, input: Tensor, weight: Any, bias: Tensor | None) -> Tensor:
    """Call ``linear`` with rows. For batches of other strides PyTorch expands the weight."""
    rows = input.reshape(-1, input.shape[-1])
    with torch._C.DisableTorchFunctionSubclass():
        product = func(rows, weight, bias)
    return product.view(*input.shape[:-1], product.shape[-1])


def scaled_sum(bias: Tensor, product: Tensor, kwargs: Any) -> Tensor:
    """Return ``beta * bias + alpha * product`` as `addmm` does: without a factor, the bias is not read."""
    alpha, beta = kwargs.get("alpha", 1), kwargs.get("beta", 1)
    product = product if alpha == 1 else alpha * product
    if beta == 0:
        return product
    return torch.add(product, bias, alpha=beta)


def adds_columns(bias: Tensor, kwargs: Any) -> bool:
    """Return whether `addmm` adds a number to each column, as the bias of a linear layer."""
    return bias.dim() == 1 and kwargs.get("alpha", 1) == kwargs.get("beta", 1) == 1


def arguments_of(stock: Any, args: Any, kwargs: Any) -> dict[str, Any]:
    """Return the arguments of a call by name, with the defaults."""
    call = inspect.signature(stock).bind(*args, **kwargs)
    call.apply_defaults()
    return call.arguments
