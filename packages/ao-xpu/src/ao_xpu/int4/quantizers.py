"""Quantization of weights to int4 by minimum and maximum, and what a weight must be for it."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..errors import DoesNotFitError

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
