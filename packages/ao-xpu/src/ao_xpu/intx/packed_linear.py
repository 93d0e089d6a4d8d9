"""Products by numbers of one to seven bits that lie dense, and their elements.

Rows are expanded to bytes before they are multiplied, unless their numbers have four bits. An element is
``scale * (number - zero_point)``; the parameters have the shape [N, K / group].
"""

from __future__ import annotations

from collections.abc import Iterator

import torch
from torch import Tensor

from ..linear_plans import Plan
from ..operators.bit_packing import UNIT, unpack_bits
from ..operators.low_bit_linear import dequantize_low_bit, low_bit_linear, low_bit_plan

# Numbers that are expanded at a time.
MAX_EXPANDED = 1 << 26


def packed_plan(bits: int, scale: Tensor, zero_point: Tensor) -> Plan:
    """Plan products by weights [N, K] of numbers of as many bits."""
    if bits == 4:
        return low_bit_plan("uint4", scale, zero_point)

    def multiply(input: Tensor, packed: Tensor, bias: Tensor | None) -> Tensor:
        products = []
        for rows in _pieces(packed, bits):
            numbers = unpack_bits(packed[rows], bits)
            parameters = (scale[rows], zero_point[rows], None)
            part_of_bias = None if bias is None else bias[rows]
            products.append(low_bit_linear(input, numbers, "uint8", *parameters, part_of_bias))
        return products[0] if len(products) == 1 else torch.cat(products, -1)

    return multiply


def dequantize_packed(
    packed: Tensor, bits: int, scale: Tensor, zero_point: Tensor, dtype: torch.dtype
) -> Tensor:
    """Return the elements [N, K]."""
    matrices = []
    for rows in _pieces(packed, bits):
        numbers, format = _readable(packed[rows], bits)
        parameters = (scale[rows], zero_point[rows])
        matrices.append(dequantize_low_bit(numbers, format, *parameters, dtype=dtype))
    return matrices[0] if len(matrices) == 1 else torch.cat(matrices)


def _pieces(packed: Tensor, bits: int) -> Iterator[slice]:
    """Yield rows that are expanded together; all, if products read the numbers as they are stored."""
    rows, columns = packed.shape[0], packed.shape[1] // bits * UNIT
    count = rows if bits == 4 else MAX_EXPANDED // max(columns, 1)
    for begin in range(0, max(rows, 1), max(count, 1)):
        yield slice(begin, begin + max(count, 1))


def _readable(packed: Tensor, bits: int) -> tuple[Tensor, str]:
    return (packed, "uint4") if bits == 4 else (unpack_bits(packed, bits), "uint8")
