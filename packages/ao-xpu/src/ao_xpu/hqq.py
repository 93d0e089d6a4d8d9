"""Half-quadratic quantization (HQQ) by torchao, for the formats that have it on xpu."""

from __future__ import annotations

import torch
from torch import Tensor


def quantize(
    weight: Tensor, bits: int, group: int, has_zero_points: bool = True
) -> tuple[Tensor, Tensor, Tensor]:
    """Return numbers [N, K] from 0, and scales and zero points [N, K / group].

    They are computed in f32. Without zero points the third part are the zeros of tile_packed_to_4d, and all
    parts are computed in the type of the weight.
    """
    from torchao.quantization.quant_primitives import _choose_qparams_and_quantize_affine_hqq

    numbers, scale, zero, _ = _choose_qparams_and_quantize_affine_hqq(
        weight.detach(),
        nbits=bits,
        group_size=group,
        compute_dtype=torch.float32 if has_zero_points else weight.dtype,
        device=weight.device,
        raw_output=has_zero_points,
    )
    # torchao optimizes in inference mode, and autograd saves no tensor that was made there.
    rows = weight.shape[0]
    return numbers, scale.reshape(rows, -1).clone(), zero.reshape(rows, -1).clone()
