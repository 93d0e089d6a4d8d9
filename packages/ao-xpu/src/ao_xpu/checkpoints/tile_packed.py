"""The format `tile_packed_to_4d` as CUDA's `_convert_weight_to_int4pack` packs it.

The words are [N / 8, K / (16 tiles), 32, tiles / 2], where `tiles` is 2, 4 or 8. The word ``[i, j, t, w]`` is
of row ``8 i + t / 4``; its numbers, from the lowest bits, belong to the columns
``16 tiles j + 32 w + 2 (t % 4)`` plus 0, 8, 16, 24, 1, 9, 17 and 25. torchao pads N to 8 and K to 1024. An
element is ``scale * (number - 8) + zero``, with parameters [K / group, N, 2].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from ..int4.packing import pack
from .words import group_size, unpack_words

TILE_ROWS, TILE_COLUMNS, THREADS = 8, 16, 32


def from_tile_packed(
    qdata: Tensor, scale_and_zero: Tensor, shape: Sequence[int] | None = None
) -> Any:
    """Return the Int4Tensor [N, K] of words and parameters; ``shape`` is without the padding."""
    from torchao.quantization import Int4Tensor

    _require_tiles(qdata, scale_and_zero)
    numbers = _untile(qdata)
    padded_rows, padded_columns = numbers.shape
    group = group_size(padded_columns, scale_and_zero.shape[0])
    rows, columns = numbers.shape if shape is None else shape
    if rows > padded_rows or columns > padded_columns or columns % group:
        padded = (padded_rows, padded_columns)
        raise ValueError(f"shape: got {(rows, columns)} of {padded}, in groups of {group}")
    scale, zero = scale_and_zero[: columns // group, :rows].unbind(-1)
    return Int4Tensor(
        pack(numbers[:rows, :columns] - 8),
        scale.contiguous(),
        zero.contiguous(),
        [1, group],
        torch.Size((rows, columns)),
        activation_dtype=torch.bfloat16,
    )


def is_tiled(weight: Any) -> bool:
    """Return whether the weight is torchao's, in CUDA's layout."""
    return type(weight).__name__ == "Int4TilePackedTo4dTensor" and weight.qdata.dim() > 2


def convert(weight: Any) -> Any:
    """Return the Int4Tensor of an Int4TilePackedTo4dTensor in CUDA's layout."""
    result = from_tile_packed(weight.qdata, weight.scale_and_zero, weight.shape)
    result.act_pre_scale = weight.act_pre_scale
    return result


def _require_tiles(qdata: Tensor, scale_and_zero: Tensor) -> None:
    shape, parameters = tuple(qdata.shape), tuple(scale_and_zero.shape)
    is_tile = qdata.dim() == 4 and shape[2] == THREADS and shape[3] in (1, 2, 4)
    if qdata.dtype != torch.int32 or not is_tile:
        raise ValueError(f"qdata: got shape {shape} of {qdata.dtype}, expected tiles of int32")
    rows = shape[0] * TILE_ROWS
    if len(parameters) != 3 or parameters[1:] != (rows, 2):
        raise ValueError(f"scale_and_zero: got shape {parameters}, expected (groups, {rows}, 2)")


def _untile(qdata: Tensor) -> Tensor:
    """Return the numbers 0 to 15 as int8 [N, K], with the padding."""
    row_tiles, column_tiles, _, words = qdata.shape
    # Dimensions: tile of rows, tile of columns, row, thread % 4, word, odd or even column, column / 8.
    sizes = row_tiles, column_tiles, TILE_ROWS, 4, words, 2, 4
    numbers = unpack_words(qdata).reshape(sizes).permute(0, 2, 1, 4, 6, 3, 5)
    return numbers.reshape(row_tiles * TILE_ROWS, column_tiles * words * 2 * TILE_COLUMNS)
