"""The format of AutoGPTQ and GPTQModel.

`qweight` is [K / 8, N], `qzeros` is [K / group, N / 8], `scales` is [K / group, N]; the lowest bits of a word
are its first number. An element is ``scale * (number - zero_point)``. Files of the first version, `gptq`,
store the zero point minus one, modulo 16; those of `gptq_v2` store the zero point.
"""

from __future__ import annotations

from typing import Any

from torch import Tensor

from .input_order import input_order
from .words import NUMBERS, plain_int32, require_words, require_zero_points, unpack_words

ZERO_POINT_OFFSETS = {"gptq": 1, "gptq_v2": 0}


def from_gptq(
    qweight: Tensor,
    qzeros: Tensor,
    scales: Tensor,
    g_idx: Tensor | None = None,
    *,
    checkpoint_format: str = "gptq",
    order: Tensor | None = None,
) -> Any:
    """Return the Int4PlainInt32Tensor [N, K] of a layer, in the type of the scales.

    Layers that were quantized in the order of activations (``desc_act``) have columns of any group. They are
    rejected, unless ``order`` is what `input_order` returns of ``g_idx``: then the columns have that order,
    and so must activations, which `OrderedLinear` permutes.
    """
    if checkpoint_format not in ZERO_POINT_OFFSETS:
        expected = ", ".join(ZERO_POINT_OFFSETS)
        raise ValueError(f"checkpoint_format: got {checkpoint_format!r}, expected {expected}")
    rows, groups = require_zero_points(qzeros, scales)
    columns = qweight.shape[0] * NUMBERS
    require_words("qweight", qweight, (columns // NUMBERS, rows), 0)
    if g_idx is not None and order is None and input_order(g_idx, columns, groups) is not None:
        raise ValueError("g_idx: the columns are in the order of activations (desc_act)")
    zero_point = unpack_words(qzeros) + ZERO_POINT_OFFSETS[checkpoint_format] & 15
    return plain_int32(qweight.t(), scales, zero_point, order)
