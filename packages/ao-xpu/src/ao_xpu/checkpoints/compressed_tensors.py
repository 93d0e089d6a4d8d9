"""The format `pack-quantized` of compressed-tensors, with numbers of 4 bits.

`weight_packed` is [N, K / 8]; `weight_scale` is [N, K / group], [N, 1] or one number. Asymmetric weights have
`weight_zero_point`, [N / 8, K / group]. The lowest bits of a word are its first number. Numbers and zero
points are -8 to 7, and 8 is added to both where they are packed. An element is
``scale * (number - zero_point)``.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import torch
from torch import Tensor

from .words import NUMBERS, plain_int32, require_scales, require_words, unpack_words


def from_compressed_tensors(
    weight_packed: Tensor,
    weight_scale: Tensor,
    weight_shape: Tensor | Sequence[int],
    weight_zero_point: Tensor | None = None,
    *,
    order: Tensor | None = None,
) -> Any:
    """Return the Int4PlainInt32Tensor [N, K] of a layer, in the type of the scales.

    ``order`` is what `input_order` returns of `weight_g_idx`, if the layer has one; activations must be
    permuted then, as `OrderedLinear` does.
    """
    if isinstance(weight_shape, Tensor):
        is_integer = not weight_shape.is_floating_point() and not weight_shape.is_complex()
        if weight_shape.dim() != 1 or not is_integer:
            got = f"{weight_shape.dtype} of shape {tuple(weight_shape.shape)}"
            raise ValueError(f"weight_shape: got {got}, expected two integers")
    shape = [int(size) for size in weight_shape]
    if len(shape) != 2 or shape[1] % NUMBERS:
        raise ValueError(f"weight_shape {shape}: expected a matrix with rows of whole words of 8")
    rows, columns = shape
    require_words("weight_packed", weight_packed, (rows, columns // NUMBERS), 1)
    scale = weight_scale.reshape(1, 1) if weight_scale.numel() == 1 else weight_scale
    require_scales("weight_scale", scale)
    if scale.shape[0] not in (rows, 1):
        raise ValueError(f"weight_scale: got shape {tuple(scale.shape)}, expected {rows} rows")
    scale = scale.expand(rows, -1)
    zero_point = _zero_point(weight_zero_point, scale)
    return plain_int32(weight_packed, scale.t(), zero_point.t(), order)


def _zero_point(stored: Tensor | None, scale: Tensor) -> Tensor:
    """Return zero points 0 to 15 [N, K / group]; old files store them as int8, unpacked."""
    rows, groups = scale.shape
    if stored is None:
        return torch.full((rows, groups), 8, dtype=torch.int8, device=scale.device)
    if stored.dtype == torch.int8:
        if stored.numel() != 1 and stored.shape != scale.shape:
            shape = tuple(stored.shape)
            raise ValueError(f"weight_zero_point: got shape {shape}, expected {(rows, groups)}")
        return (stored + 8).expand(rows, groups)
    require_words("weight_zero_point", stored, (-(-rows // NUMBERS), groups), 0)
    return unpack_words(stored.t()).t()[:rows]
