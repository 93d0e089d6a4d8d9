"""Linear layers of float activations and low-bit weights, which are read as they are stored.

A weight ``[N, K]`` is stored as rows of bytes; an element is ``scale * (number - zero_point) + offset``. The
parameters have the shape ``[N, K / group]``, ``[N, 1]``, ``[1, 1]`` or ``[]``, with any strides.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor
from torch._C._functorch import peek_interpreter_stack
from torch.compiler import is_compiling
from xpu_runtime.codegen.elements import LOW_BIT_FORMATS

_TYPES = {
    name: getattr(torch, element.pytorch)
    for name, element in LOW_BIT_FORMATS.items()
    if element.pytorch
}
# The formats of PyTorch's types of floats.
FLOAT_FORMATS = {
    type: name for name, type in _TYPES.items() if LOW_BIT_FORMATS[name].kind == "float"
}
_product = torch.ops.torch_xpu.low_bit_linear.default


def low_bit_plan(
    format: str,
    scale: Tensor | None = None,
    zero_point: Tensor | None = None,
    offset: Tensor | None = None,
) -> Callable[[Tensor, Tensor, Tensor | None], Tensor]:
    """Return the product by weights of a format and parameters, as a function of input, weight and bias."""

    def multiply(input: Tensor, weight: Tensor, bias: Tensor | None) -> Tensor:
        return low_bit_linear(input, weight, format, scale, zero_point, offset, bias)

    parameters = [p for p in (scale, zero_point, offset) if p is not None]
    if is_compiling() or not all(type(p) is Tensor and p.is_xpu for p in parameters):
        return multiply
    from torch_xpu._device import bind_low_bit_linear

    return bind_low_bit_linear(multiply, format, scale, zero_point, offset)


def numbers_in_byte(format: str) -> int:
    """Return how many numbers a byte of the format has."""
    if format not in LOW_BIT_FORMATS:
        raise ValueError(f"format: got {format!r}, expected one of {', '.join(LOW_BIT_FORMATS)}")
    return 2 if LOW_BIT_FORMATS[format].packed else 1


def low_bit_linear(
    input: Tensor,
    weight: Tensor,
    format: str,
    scale: Tensor | None = None,
    zero_point: Tensor | None = None,
    offset: Tensor | None = None,
    bias: Tensor | None = None,
    factor: Tensor | None = None,
) -> Tensor:
    """Return the product of ``input`` [..., K] by the weight, times ``factor``, plus ``bias``.

    The result has the type of ``input``, or under autocast its type. Under transforms of torch.func (`grad`,
    `vmap`) the weight is expanded first.
    """
    device = "xpu" if input.is_xpu else input.device.type
    if torch.is_autocast_enabled(device) and input.dtype != torch.float64:
        input = input.to(torch.get_autocast_dtype(device))
    if bias is not None and bias.dtype != input.dtype:
        bias = bias.to(input.dtype)
    if device == "xpu" and not _is_transformed():
        return _product(input, weight, format, scale, zero_point, offset, bias, factor)
    elements = dequantize_low_bit(weight, format, scale, zero_point, offset, input.dtype)
    if factor is not None:
        product = torch.nn.functional.linear(input, elements) * factor.to(input.dtype)
        return product if bias is None else product + bias
    return torch.nn.functional.linear(input, elements, bias)


def _is_transformed() -> bool:
    """Return whether a transform of torch.func runs: it takes no function of autograd that C++ defines."""
    return not is_compiling() and peek_interpreter_stack() is not None


def dequantize_low_bit(
    weight: Tensor,
    format: str,
    scale: Tensor | None = None,
    zero_point: Tensor | None = None,
    offset: Tensor | None = None,
    dtype: torch.dtype = torch.float32,
) -> Tensor:
    """Return the elements of the weight in ``dtype``; they are computed in f32."""
    if weight.device.type == "xpu":
        dequantize = torch.ops.torch_xpu.dequantize_low_bit
        return dequantize(weight.contiguous(), format, scale, zero_point, offset, dtype)
    numbers = _numbers(weight, format)
    parameters = [p for p in (scale, zero_point, offset) if p is not None]
    blocks = max((p.shape[1] for p in parameters if p.dim() == 2), default=1)
    grouped = numbers.unflatten(1, (blocks, numbers.shape[1] // blocks))
    if zero_point is not None:
        grouped = grouped - _of_blocks(zero_point)
    if scale is not None:
        grouped = grouped * _of_blocks(scale)
    if offset is not None:
        grouped = grouped + _of_blocks(offset)
    return grouped.flatten(1).to(dtype)


def fits(weight: Tensor, *parameters: Tensor | None) -> bool:
    """Return whether the weight is a matrix whose parameters belong to rows, groups or all elements."""
    if weight.dim() != 2:
        return False
    rows, columns = weight.shape
    return all(
        parameter is None
        or parameter.dim() == 0
        or (
            parameter.dim() == 2
            and (parameter.numel() == 1 or parameter.shape[0] == rows)
            and parameter.shape[1] > 0
            and columns % parameter.shape[1] == 0
        )
        for parameter in parameters
    )


def _of_blocks(parameter: Tensor) -> Tensor:
    """Return a parameter in f32, to be broadcast to elements [N, blocks, K / blocks]."""
    return parameter.float().unsqueeze(-1)


def _numbers(weight: Tensor, format: str) -> Tensor:
    """Return the stored numbers [N, K] in f32, before scales and zero points."""
    if numbers_in_byte(format) == 1:
        return weight.view(_TYPES[format]).float()
    if format == "int4" or format == "uint4":
        data = weight.contiguous().view(torch.uint8)
        halves = torch.stack((data & 15, data >> 4), -1).flatten(-2).float()
        return halves if format == "uint4" else halves.add(8).remainder(16).sub(8)
    raise ValueError(f"format: got {format!r}, which only xpu devices read")
