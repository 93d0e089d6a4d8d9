"""The format of AutoAWQ, version `gemm`.

`qweight` is [K, N / 8], `qzeros` is [K / group, N / 8], `scales` is [K / group, N]. The numbers of a word,
the lowest bits first, belong to its columns 0, 2, 4, 6, 1, 3, 5 and 7. An element is
``scale * (number - zero_point)``.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ..int4.packing import pack_words
from .words import NUMBERS, plain_int32, require_words, require_zero_points, unpack_words


def from_awq(qweight: Tensor, qzeros: Tensor, scales: Tensor) -> Any:
    """Return the Int4PlainInt32Tensor [N, K] of a layer, in the type of the scales."""
    rows, _ = require_zero_points(qzeros, scales)
    require_words("qweight", qweight, (qweight.shape[0], rows // NUMBERS), 1)
    numbers = _in_order(unpack_words(qweight)).t()
    if numbers.shape[1] % NUMBERS:
        raise ValueError(f"rows of {numbers.shape[1]} elements are no words of {NUMBERS}")
    return plain_int32(pack_words(numbers), scales, _in_order(unpack_words(qzeros)))


def _in_order(numbers: Tensor) -> Tensor:
    """Return the even columns of each word, which are stored first, between the odd ones."""
    return numbers.unflatten(-1, (-1, 2, NUMBERS // 2)).transpose(-1, -2).flatten(-3)
