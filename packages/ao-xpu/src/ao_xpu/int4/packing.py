"""Numbers of four bits in bytes and words, the first in the lowest bits."""

from __future__ import annotations

import torch
from torch import Tensor

from ..errors import DoesNotFitError


def pack(numbers: Tensor) -> Tensor:
    """Return two neighbors of int8 numbers in each byte, the first in the low half, as int8."""
    pairs = numbers.contiguous().view(torch.uint8).unflatten(-1, (-1, 2))
    return (pairs[..., 0] & 15 | pairs[..., 1] << 4).contiguous().view(torch.int8)


def pack_words(numbers: Tensor) -> Tensor:
    """Return eight neighbors of numbers 0 to 15 in each int32, the first in the lowest bits."""
    if numbers.shape[-1] % 8:
        raise DoesNotFitError(f"rows of {numbers.shape[-1]} elements are no words of 8")
    return pack(numbers.to(torch.int8)).view(torch.int32)
