"""Tensors of torchao whose scales belong to blocks of a row: MXTensor and NVFP4Tensor on xpu.

torchao stores the scales in the order of CUDA's matrix units, which xpu does not read. Weights quantized on
xpu have plain scales; those of a checkpoint are put in plain order at each product.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..handlers import Handler, adds_columns, arguments_of_linear, linear_of_rows, scaled_sum


def plain_rows(weight: Any, is_transposed: bool) -> tuple[Tensor, Tensor]:
    """Return the numbers [N, bytes of a row] of a matrix, or of its transpose, and the scales [N, blocks]."""
    numbers, scale = weight.qdata, weight.scale
    if is_transposed:
        numbers, scale = numbers.t(), scale.t()
    if weight.is_swizzled_scales:
        scale = _plain(scale, weight.shape[::-1] if is_transposed else weight.shape, weight)
    return numbers, scale


def _plain(scale: Tensor, shape: Any, weight: Any) -> Tensor:
    from torchao.prototype.mx_formats.utils import from_blocked

    rows, columns = shape
    return from_blocked(scale, rows, columns // weight.block_size)


def quantize(transform: Any) -> Any:
    """Quantize a module of xpu by a function of torchao, from contiguous rows to plain scales."""

    def handler(module: torch.nn.Module, config: Any, *, parameter_name: str = "weight") -> Any:
        weight = getattr(module, parameter_name)
        options = {} if parameter_name == "weight" else {"parameter_name": parameter_name}
        if weight.device.type != "xpu":
            return transform(module, config, **options)
        if not weight.is_contiguous():
            parameter = torch.nn.Parameter(weight.detach().contiguous(), weight.requires_grad)
            setattr(module, parameter_name, parameter)
        try:
            module = transform(module, config, **options)
        except BaseException:
            setattr(module, parameter_name, weight)
            raise
        weight = getattr(module, parameter_name)
        if getattr(weight, "is_swizzled_scales", False) and weight.dim() == 2:
            parameter = torch.nn.Parameter(_with_plain_scales(weight), requires_grad=False)
            setattr(module, parameter_name, parameter)
        return module

    return handler


def _with_plain_scales(weight: Any) -> Any:
    names, attributes = weight.__tensor_flatten__()
    parts = {name: getattr(weight, name) for name in names}
    parts["scale"] = _plain(weight.scale, weight.shape, weight).contiguous()
    attributes = attributes | {"is_swizzled_scales": False}
    return type(weight).__tensor_unflatten__(parts, attributes, None, None)


def linear(stock: Handler, product: Any) -> Handler:
    """Multiply activations by the rows of a weight, in ``product(input, weight, is_transposed, bias)``."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        input, weight, *bias = args
        if not _is_ours(input, weight):
            return stock(func, types, args, kwargs)
        _require_one_device(input, weight)
        return product(input, weight, False, *bias)

    return handler


def torch_function(stock: Any) -> Any:
    """Multiply activations of any strides by their rows, before autograd takes `linear` apart.

    Other functions come to the classes' operators, as those of the stock attribute do.
    """

    def call(cls: Any, func: Any, types: Any, args: Any = (), kwargs: Any = None) -> Any:
        kwargs = kwargs or {}
        if func is torch.nn.functional.linear:
            input, weight, bias = arguments_of_linear(args, kwargs)
            if _is_ours(input, weight):
                return linear_of_rows(func, input, weight, bias)
        with torch._C.DisableTorchFunctionSubclass():
            return func(*args, **kwargs)

    return classmethod(call)


def mm(stock: Handler, product: Any) -> Handler:
    """Multiply by a transposed weight, as linear layers do under autograd. Others are dequantized."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        *biases, input, weight = args
        if not _is_ours(input, weight):
            return stock(func, types, args, kwargs)
        _require_one_device(input, weight)
        if weight.qdata.stride(-2) >= weight.qdata.stride(-1) and weight.qdata.shape[-2] != 1:
            return func(*biases, input, weight.dequantize(input.dtype), **kwargs)
        if not biases or adds_columns(biases[0], kwargs):
            return product(input, weight, True, *biases)
        return scaled_sum(biases[0], product(input, weight, True), kwargs)

    return handler


def _require_one_device(input: Tensor, weight: Any) -> None:
    if input.device != weight.device:
        devices = f"{input.device} and {weight.device}"
        raise RuntimeError(f"Expected all tensors to be on the same device, but got {devices}")


def _is_ours(input: Any, weight: Any) -> bool:
    """Return whether float activations meet a quantized matrix on xpu."""
    names = "MXTensor", "NVFP4Tensor"
    is_float_by_quantized = type(weight).__name__ in names and type(input).__name__ not in names
    return is_float_by_quantized and weight.device.type == "xpu" and weight.dim() == 2
