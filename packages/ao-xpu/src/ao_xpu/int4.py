"""Int4Tensor on xpu, the packing format `plain`: signed numbers, two a byte, the first in the low half.

An element is ``scale * number + zero_point``; scales and zero points have the shape [K / group, N].
"""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from .handlers import Handler, arguments_of_linear, scaled_input
from .layers import DoesNotFitError
from .products import dequantize_low_bit, low_bit_linear

# A group of equal elements has this range, as mslk's quantizer has it.
MIN_RANGE = 1e-6
# Numbers that are quantized at a time.
PIECE = 1 << 18


def _by_pieces(quantize: Callable[[Tensor, int], tuple[Tensor, ...]]) -> Any:
    """Quantize some rows at a time, so that copies in f32 are small beside a large weight."""

    @functools.wraps(quantize)
    def whole(weight: Tensor, group: int) -> tuple[Tensor, ...]:
        rows = weight.detach().flatten(0, -2)
        pieces = rows.split(max(1, PIECE // weight.shape[-1]))
        if len(pieces) < 2:
            return quantize(weight, group)
        parts = zip(*(quantize(piece, group) for piece in pieces), strict=True)
        return tuple(torch.cat(part).unflatten(0, weight.shape[:-1]) for part in parts)

    return whole


@_by_pieces
def quantize_asymmetric(weight: Tensor, group: int) -> tuple[Tensor, Tensor, Tensor]:
    """Return numbers in [-8, 7] as int8 [..., N, K], and f32 scales and zero points [..., N, K / group]."""
    groups = weight.detach().float().unflatten(-1, (-1, group))
    minimum, maximum = groups.aminmax(dim=-1, keepdim=True)
    scale = (maximum - minimum).clamp(min=MIN_RANGE) / 15
    numbers = ((groups - minimum) / scale).round().clamp(0, 15) - 8
    zero_point = minimum + scale * 8
    return numbers.flatten(-2).to(torch.int8), scale.squeeze(-1), zero_point.squeeze(-1)


@_by_pieces
def quantize_symmetric(weight: Tensor, group: int) -> tuple[Tensor, Tensor]:
    """Return numbers in [-8, 7] as int8 [..., N, K], and f32 scales [..., N, K / group]."""
    groups = weight.detach().float().unflatten(-1, (-1, group))
    scale = groups.abs().amax(dim=-1, keepdim=True).div(8).clamp(min=MIN_RANGE)
    numbers = (groups / scale).round().clamp(-8, 7)
    return numbers.flatten(-2).to(torch.int8), scale.squeeze(-1)


def pack(numbers: Tensor) -> Tensor:
    """Return two neighbours of int8 numbers in each byte, the first in the low half, as int8."""
    pairs = numbers.contiguous().view(torch.uint8).unflatten(-1, (-1, 2))
    return (pairs[..., 0] & 15 | pairs[..., 1] << 4).contiguous().view(torch.int8)


def pack_words(numbers: Tensor) -> Tensor:
    """Return eight neighbours of numbers 0 to 15 in each int32, the first in the lowest bits."""
    if numbers.shape[-1] % 8:
        raise DoesNotFitError(f"rows of {numbers.shape[-1]} elements are no words of 8")
    return pack(numbers.to(torch.int8)).view(torch.int32)


def require_groups(weight: Tensor, block_size: list[int]) -> None:
    """Raise an error unless the weight is of floats, with rows of whole groups of an even size.

    The error is AssertionError, as torchao's, if `block_size` has no groups along the last dimension.
    """
    group, length = block_size[-1], weight.shape[-1]
    if len(block_size) != weight.dim() or any(size != 1 for size in block_size[:-1]):
        raise AssertionError(f"int4 has groups along the last dimension, not {block_size}")
    if hasattr(weight, "qdata"):
        raise ValueError(f"the weight is quantized already: {type(weight).__name__}")
    if group % 2 or length % group:
        raise DoesNotFitError(f"rows of {length} elements are no groups of {group}")


def require_activations(dtype: torch.dtype) -> None:
    """Raise AssertionError, as in torchao, for other activations than of bf16 and e4m3."""
    if dtype not in (torch.bfloat16, torch.float8_e4m3fn):
        raise AssertionError(f"int4 has no activations of {dtype}")


def quantizer(stock: Any, make: Callable[[Any, Tensor, list[int], torch.dtype], Any]) -> Any:
    """Return a `from_hp` that checks a weight on xpu and then calls `make` with its arguments."""

    def quantize(
        cls: Any,
        w: Tensor,
        block_size: list[int],
        activation_dtype: torch.dtype = torch.bfloat16,
    ) -> Any:
        if w.device.type != "xpu":
            return stock.__func__(cls, w, block_size, activation_dtype)
        require_groups(w, block_size)
        require_activations(activation_dtype)
        return make(cls, w, block_size, activation_dtype)

    return classmethod(quantize)


def require_batches(input: Tensor, weight: Any) -> None:
    """Raise ValueError unless both have three dimensions and as many batches."""
    if input.dim() != 3 or weight.dim() != 3 or input.shape[0] != weight.shape[0]:
        raise ValueError(f"bmm of {tuple(input.shape)} and {tuple(weight.shape)}")


def from_hp(stock: Any) -> Any:
    """Quantize a weight on xpu without mslk, to what mslk's quantizer gives."""

    def make(cls: Any, w: Tensor, block_size: list[int], activation_dtype: torch.dtype) -> Any:
        if activation_dtype == torch.float8_e4m3fn:
            numbers, scale = quantize_symmetric(w, block_size[-1])
            zero_point = torch.zeros_like(scale)
        else:
            numbers, scale, zero_point = quantize_asymmetric(w, block_size[-1])
        return cls(
            pack(numbers),
            scale.mT.contiguous().to(w.dtype),
            zero_point.mT.contiguous().to(w.dtype),
            block_size,
            w.shape,
            activation_dtype=activation_dtype,
        )

    return quantizer(stock, make)


def linear(stock: Handler) -> Handler:
    """Multiply by the weight as it is stored; activations of fp8 are quantized by rows."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        input, weight, bias = arguments_of_linear(args, kwargs)
        if weight.device.type != "xpu":
            return stock(func, types, args, kwargs)
        if weight.dim() != 2 or weight.block_size[-1] == 1:
            raise NotImplementedError("linear with an Int4Tensor that is transposed or no matrix")
        return _product(scaled_input(input, weight), weight, bias)

    return handler


def bmm(stock: Handler) -> Handler:
    """Multiply batches; as in torchao, the weight is [B, N, K], transposed as a linear layer's."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        input, weight = args
        if weight.device.type != "xpu":
            return stock(func, types, args, kwargs)
        require_batches(input, weight)
        parts = zip(input, weight.qdata, weight.scale, weight.zero_point, strict=True)
        products = [
            low_bit_linear(x, data, "int4", scale.t(), offset=zero_point.t())
            for x, data, scale, zero_point in parts
        ]
        rows = input.new_empty(0, input.shape[1], weight.shape[1])
        return torch.stack(products) if products else rows

    return handler


def dequantize(stock: Any) -> Any:
    """Add the method `dequantize` for weights on xpu; the class does not have it."""

    def elements(self: Any, output_dtype: torch.dtype | None = None) -> Tensor:
        if self.device.type != "xpu":
            return stock(self)
        return _elements(self, output_dtype or self.dtype)

    return elements


def _elements(weight: Any, dtype: torch.dtype) -> Tensor:
    if weight.dim() == 3:
        parts = zip(weight.qdata, weight.scale, weight.zero_point, strict=True)
    else:
        parts = zip([weight.qdata], [weight.scale], [weight.zero_point], strict=True)
    matrices = [
        dequantize_low_bit(data, "int4", scale.t(), None, zero_point.t(), dtype)
        for data, scale, zero_point in parts
    ]
    return torch.stack(matrices) if weight.dim() == 3 else matrices[0]


def _product(input: Tensor, weight: Any, bias: Tensor | None) -> Tensor:
    scale, offset = weight.scale.t(), weight.zero_point.t()
    if weight.activation_dtype != torch.float8_e4m3fn:
        return low_bit_linear(input, weight.qdata, "int4", scale, None, offset, bias)
    rows, row_scale = quantized_rows(input)
    product = low_bit_linear(rows, weight.qdata, "int4", scale, None, offset)
    return scaled_rows(product, row_scale, bias, input.dtype)


def quantized_rows(input: Tensor) -> tuple[Tensor, Tensor]:
    """Return e4m3 activations as bf16, which holds them exactly, and the f32 scale of each row."""
    limit = torch.finfo(torch.float8_e4m3fn).max
    values = input.float()
    scale = values.abs().amax(-1, keepdim=True).clamp(min=1e-12) / limit
    rows = (values / scale).clamp(-limit, limit).to(torch.float8_e4m3fn)
    return rows.to(torch.bfloat16), scale


def scaled_rows(
    product: Tensor, row_scale: Tensor, bias: Tensor | None, dtype: torch.dtype
) -> Tensor:
    """Return the product of quantized rows in the type of the activations."""
    result = product * row_scale
    return (result if bias is None else result + bias).to(dtype)
