"""Words of eight 4-bit numbers, as files have them, and the checks that all formats share."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..int4.packing import pack_words

NUMBERS = 8  # in a word


def unpack_words(words: Tensor) -> Tensor:
    """Return the numbers 0 to 15 of int32 words [..., W] as int8 [..., 8 W], the lowest bits first."""
    *sizes, length = words.shape
    data = words.reshape(-1).view(torch.uint8)
    numbers = torch.stack((data & 15, data >> 4), -1).view(torch.int8)
    return numbers.reshape(*sizes, length * NUMBERS)


def plain_int32(
    words: Tensor, scale: Tensor, zero_point: Tensor, order: Tensor | None = None
) -> Any:
    """Return the Int4PlainInt32Tensor of words [N, K / 8], with parameters [K / group, N].

    The columns are taken in ``order``, if there is one.
    """
    from torchao.quantization import Int4PlainInt32Tensor

    rows, columns = words.shape[0], words.shape[1] * NUMBERS
    block_size = [1, group_size(columns, scale.shape[0])]
    if order is not None:
        if len(order) != columns:
            raise ValueError(f"got an order of {len(order)} columns for a weight of {columns}")
        words = pack_words(unpack_words(words).index_select(1, order.to(words.device)))
    parameters = scale.contiguous(), zero_point.to(torch.int8).contiguous()
    return Int4PlainInt32Tensor(words.contiguous(), *parameters, block_size, (rows, columns))


def group_size(columns: int, groups: int) -> int:
    """Return how many columns share a scale; reject groups that no product takes."""
    if groups == 0 or columns % groups or columns // groups % 2:
        raise ValueError(f"{columns} columns are no {groups} groups of one even size")
    return columns // groups


def require_scales(name: str, scales: Tensor) -> None:
    """Raise ValueError unless the scales are a matrix of floats that torchao's int4 tensors take."""
    types = (torch.float16, torch.bfloat16, torch.float32)
    if scales.dim() != 2 or scales.dtype not in types:
        shape, dtype = tuple(scales.shape), scales.dtype
        raise ValueError(f"{name}: got shape {shape} of {dtype}, expected a matrix of floats")


def require_zero_points(qzeros: Tensor, scales: Tensor) -> tuple[int, int]:
    """Return N and the number of groups; check packed zero points [groups, N / 8] and scales [groups, N]."""
    require_scales("scales", scales)
    groups, rows = scales.shape
    if rows % NUMBERS:
        raise ValueError(f"scales: got shape {(groups, rows)}, expected a multiple of 8 columns")
    require_words("qzeros", qzeros, (groups, rows // NUMBERS), 1)
    return rows, groups


def require_words(name: str, words: Tensor, shape: tuple[int, int], packed_dim: int) -> None:
    """Raise ValueError unless the words have this shape; a number of bits is named that explains another."""
    got = tuple(words.shape)
    if words.dtype != torch.int32 or words.dim() != 2:
        raise ValueError(f"{name}: got shape {got} of {words.dtype}, expected a matrix of int32")
    if got == shape:
        return
    other = 1 - packed_dim
    for bits in (2, 3, 8):
        if got[other] == shape[other] and got[packed_dim] * 4 == shape[packed_dim] * bits:
            raise ValueError(f"{name} has numbers of {bits} bits: only 4 bits are supported")
    raise ValueError(f"{name}: got shape {got}, expected {shape}: is the tensor cut or transposed?")
