"""The quantized formats of GGUF: blocks of bytes become tensors of numbers in order, and their parameters.

Rows are whole blocks. Numbers and parameters of Q4_0, Q4_1 and Q8_0 are those of the file. In Q4_K and Q6_K
the scales of groups are products of two numbers, which are rounded to f16; a number of Q6_K takes a byte.
"""

from __future__ import annotations

from collections.abc import Callable

import torch
from torch import Tensor

from ..int4.packing import pack
from .tensor import GgufTensor


def _q4_0(blocks: Tensor, dtype: torch.dtype) -> GgufTensor:
    (scale,) = _floats(blocks[..., :2])
    zero_point = torch.tensor(8, dtype=torch.int8, device=blocks.device)
    return GgufTensor(_pack(blocks[..., 2:], 16), scale, "uint4", dtype, zero_point)


def _q4_1(blocks: Tensor, dtype: torch.dtype) -> GgufTensor:
    scale, offset = _floats(blocks[..., :4])
    return GgufTensor(_pack(blocks[..., 4:], 16), scale, "uint4", dtype, offset=offset)


def _q8_0(blocks: Tensor, dtype: torch.dtype) -> GgufTensor:
    (scale,) = _floats(blocks[..., :2])
    numbers = blocks[..., 2:].flatten(1).contiguous().view(torch.int8)
    return GgufTensor(numbers, scale, "int8", dtype)


def _q4_k(blocks: Tensor, dtype: torch.dtype) -> GgufTensor:
    block_scale, block_minimum = _floats(blocks[..., :4])
    # Twelve bytes: low bits of four scales and four minima, then halves of the other four of each, whose
    # upper two bits are those of the first eight bytes.
    low, middle, high = blocks[..., 4:16].unflatten(-1, (3, 4)).unbind(-2)
    scale = torch.cat((low & 63, high & 15 | low >> 2 & 48), -1)
    minimum = torch.cat((middle & 63, high >> 4 | middle >> 2 & 48), -1)
    return GgufTensor(
        _pack(blocks[..., 16:], 32),
        _product(block_scale, scale),
        "uint4",
        dtype,
        offset=_product(block_minimum, minimum).neg(),
    )


def _q6_k(blocks: Tensor, dtype: torch.dtype) -> GgufTensor:
    low, high = (
        blocks[..., :128].unflatten(-1, (2, 64)),
        blocks[..., 128:192].unflatten(-1, (2, 32)),
    )
    low = torch.cat((low & 15, low >> 4), -1)
    high = torch.cat([high >> shift & 3 for shift in (0, 2, 4, 6)], -1)
    numbers = (low | high << 4).flatten(1).view(torch.int8) - 32
    (block_scale,) = _floats(blocks[..., 208:])
    scale = _product(block_scale, blocks[..., 192:208].contiguous().view(torch.int8))
    return GgufTensor(numbers, scale, "int8", dtype)


# The bytes of a block, and what makes a tensor of blocks [N, K / block, bytes].
FORMATS: dict[str, tuple[int, Callable[[Tensor, torch.dtype], GgufTensor]]] = {
    "Q4_0": (18, _q4_0),
    "Q4_1": (20, _q4_1),
    "Q8_0": (34, _q8_0),
    "Q4_K": (144, _q4_k),
    "Q6_K": (210, _q6_k),
}


def from_blocks(data: Tensor, format: str, dtype: torch.dtype = torch.bfloat16) -> GgufTensor:
    """Return the tensor of the bytes of a matrix [N, bytes of a row], on their device."""
    if format not in FORMATS:
        raise ValueError(f"GGUF's format {format}: expected one of {', '.join(FORMATS)}")
    size, make = FORMATS[format]
    if data.dtype != torch.uint8 or data.dim() != 2 or data.shape[1] % size:
        shape = tuple(data.shape)
        raise ValueError(f"{data.dtype} of shape {shape} has no rows of blocks of {size} bytes")
    return make(data.unflatten(1, (-1, size)), dtype)


def _floats(data: Tensor) -> tuple[Tensor, ...]:
    """Return the f16 numbers of which all blocks have one, each [N, K / block]."""
    floats = data.contiguous().view(torch.float16)
    return tuple(part.contiguous() for part in floats.unbind(-1))


def _pack(data: Tensor, half: int) -> Tensor:
    """Reorder bytes whose halves are ``half`` elements apart to bytes of neighbors [N, K / 2]."""
    data = data.unflatten(-1, (-1, half))
    return pack(torch.cat((data & 15, data >> 4), -1).flatten(1))


def _product(of_block: Tensor, of_group: Tensor) -> Tensor:
    """Return the parameters of groups in f16, or in f32 if f16 does not hold one."""
    product = (of_block.float().unsqueeze(-1) * of_group).flatten(1)
    half = product.half()
    return half if half.isfinite().all() else product
