"""GPTQ of NVFP4 weights on xpu: blocks of 16 numbers of four bits with a scale of eight, and a factor."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .columns import quantize_columns

_BLOCK = 16
_MAX = 6.0  # of float4
_SCALE_RANGE = (2.0**-6, 448.0)  # normal numbers of float8_e4m3fn, as torchao clamps them


def quantize(hessian: Tensor, weight: Tensor, config: Any, damping: float, block: int) -> Any:
    """Quantize a weight [N, K]; the factor comes from the whole weight before its errors are made up for."""
    from torchao.prototype.mx_formats.kernels import f32_to_f4_unpacked, pack_uint4
    from torchao.prototype.mx_formats.nvfp4_tensor import (
        NVFP4Tensor,
        QuantizeTensorToNVFP4Kwargs,
        per_tensor_amax_to_scale,
    )
    from torchao.prototype.mx_formats.utils import (
        hp_data_dims_to_swizzled_scale_dims_nvfp4,
        to_blocked,
    )

    if not config.use_dynamic_per_tensor_scale:
        raise ValueError("GPTQ of NVFP4 needs use_dynamic_per_tensor_scale=True")
    if weight.shape[1] % _BLOCK:
        raise ValueError(f"rows of {weight.shape[1]} elements are no blocks of {_BLOCK}")
    largest = weight.abs().amax()
    factor = per_tensor_amax_to_scale(torch.where(largest > 0, largest, 1))

    def choose(columns: Tensor) -> tuple[Tensor, Tensor]:
        """Return the scale of a block [N, 16], with the factor, and a minimum of 0."""
        scale = columns.abs().amax(1, keepdim=True) / (_MAX * factor)
        scale = scale.clamp(*_SCALE_RANGE).to(torch.float8_e4m3fn).float()
        return scale * factor, torch.zeros_like(scale)

    numbers, scales, _ = quantize_columns(
        hessian, weight, _BLOCK, choose, round_to_float4, damping, block
    )
    stored = (scales / factor).to(torch.float8_e4m3fn)
    return NVFP4Tensor(
        pack_uint4(f32_to_f4_unpacked(numbers)),
        to_blocked(stored).view(hp_data_dims_to_swizzled_scale_dims_nvfp4(*weight.shape)),
        block_size=_BLOCK,
        orig_dtype=weight.dtype,
        per_tensor_scale=factor,
        act_per_tensor_scale=None,
        is_swizzled_scales=True,
        use_triton_kernel=False,
        act_quant_kwargs=QuantizeTensorToNVFP4Kwargs(
            use_dynamic_per_tensor_scale=True, is_swizzled_scales=True
        ),
    )


def round_to_float4(x: Tensor) -> Tensor:
    """Return the nearest numbers of float4 (e2m1), even ones of equally near ones, as floats."""
    x = x.clamp(-_MAX, _MAX)
    size = x.abs()
    step = torch.where(size < 2, 0.5, torch.where(size < 4, 1.0, 2.0))
    return (x / step).round() * step
