"""Numbers of one to seven bits that lie dense: eight are as many bytes as each has bits.

The order of the bits is in torch-xpu's csrc/aten/linear_algebra/unpack_bits.cpp, but numbers of four bits are
two neighbors a byte, the first in the low half, as products read them.
"""

from __future__ import annotations

import functools
from collections.abc import Iterator

import torch
from torch import Tensor

# Numbers of so many come in whole bytes, whatever their bits.
UNIT = 8


def pack_bits(numbers: Tensor, bits: int) -> Tensor:
    """Return the bytes [..., K / 8 * bits] of the low bits of integers [..., K] of eight bits."""
    numbers = numbers.contiguous().view(torch.uint8)
    if bits == 4:
        return _joined(numbers.unflatten(-1, (-1, 2)), 4)
    groups = numbers.unflatten(-1, (-1, UNIT))
    parts = []
    for width, place in _parts(bits):
        part = groups >> place & (1 << width) - 1
        parts.append(_joined(_lanes(part, width), width))
    return torch.cat(parts, -1).flatten(-2)


def unpack_bits(packed: Tensor, bits: int) -> Tensor:
    """Return the numbers [..., K] as uint8."""
    if bits == 4:
        return _split(packed, 4).flatten(-2)
    if packed.device.type == "xpu":
        return torch.ops.torch_xpu.unpack_bits(packed, bits)
    groups, begin = packed.unflatten(-1, (-1, bits)), 0
    numbers = torch.zeros_like(groups[..., :1])
    for width, place in _parts(bits):
        lanes = _split(groups[..., begin : begin + width], width)
        part = (lanes.mT if width == 4 else lanes).flatten(-2)
        numbers = numbers | part << place
        begin += width
    return numbers.flatten(-2)


def _parts(bits: int) -> Iterator[tuple[int, int]]:
    """Yield the widths 4, 2 and 1 that add up to the bits, and where in a number each begins."""
    place = 0
    for width in (4, 2, 1):
        if bits & width:
            yield width, place
            place += width


def _lanes(part: Tensor, width: int) -> Tensor:
    """Return groups of eight numbers as [..., bytes, numbers of a byte]."""
    return part.unflatten(-1, (2, 4)).mT if width == 4 else part.unflatten(-1, (width, -1))


def _joined(lanes: Tensor, width: int) -> Tensor:
    """Return bytes of the numbers along the last dimension, the first in the lowest bits."""
    shifted = ((lane & (1 << width) - 1) << width * i for i, lane in enumerate(lanes.unbind(-1)))
    return functools.reduce(torch.bitwise_or, shifted)


def _split(data: Tensor, width: int) -> Tensor:
    mask = (1 << width) - 1
    return torch.stack([data >> width * i & mask for i in range(UNIT // width)], -1)
