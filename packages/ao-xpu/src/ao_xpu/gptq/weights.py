"""GPTQ of a weight on xpu: int4 in three packing formats, and int8 by rows.

Scales and zero points are rounded to the type in which they are stored before the first column of their group
is quantized, so that the errors that are made up for are those of the stored weight.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from ..int4 import plain_int32, tile_packed
from ..int4.packing import pack
from ..int4.quantizers import quantize_asymmetric, require_groups
from . import nvfp4
from .columns import quantize_columns

INT4_FORMATS = ("plain", "plain_int32", "tile_packed_to_4d")


def quantize(stock: Any) -> Any:
    """Quantize a weight [N, K] on xpu, given the Hessian [K, K] of its activations."""

    def gptq_quantize(H: Tensor, W_t: Tensor, config: Any) -> Any:  # noqa: N803
        from torchao.prototype.mx_formats import NVFP4DynamicActivationNVFP4WeightConfig
        from torchao.quantization import Int4WeightOnlyConfig, Int8WeightOnlyConfig

        base = config.base_config
        if W_t.device.type != "xpu":
            return stock(H, W_t, config)
        block = config.gptq_quantize_block_size
        if isinstance(base, Int4WeightOnlyConfig):
            return _quantize_int4(H, W_t.detach(), base, config.percdamp, block)
        if isinstance(base, Int8WeightOnlyConfig):
            return _quantize_int8(H, W_t.detach(), base, config.percdamp, block)
        if isinstance(base, NVFP4DynamicActivationNVFP4WeightConfig):
            return nvfp4.quantize(H, W_t.detach(), base, config.percdamp, block)
        raise ValueError(f"GPTQ on xpu makes int4, int8 and NVFP4, not {type(base).__name__}")

    return gptq_quantize


def _quantize_int4(hessian: Tensor, weight: Tensor, config: Any, damping: float, block: int) -> Any:
    from torchao.quantization import Int4PlainInt32Tensor, Int4Tensor, Int4TilePackedTo4dTensor

    group = min(config.group_size, weight.shape[1])  # as torchao's GPTQ takes shorter rows
    format = config.int4_packing_format
    if format not in INT4_FORMATS:
        raise ValueError(f"GPTQ on xpu packs {', '.join(INT4_FORMATS)}, not {str.__str__(format)}")
    block_size = [1, group]
    is_integer = format == "plain_int32"
    if is_integer:
        plain_int32.require_fitting(weight, group)
    elif format == "tile_packed_to_4d":
        tile_packed.require_fitting(weight, block_size)
    else:
        require_groups(weight, block_size)

    def choose(columns: Tensor) -> tuple[Tensor, Tensor]:
        """Return scale and minimum of a group [N, group], as they are stored."""
        if is_integer:
            columns = torch.cat((columns, torch.zeros_like(columns[:, :1])), 1)
        _, scale, zero = quantize_asymmetric(columns, columns.shape[1])
        scale = scale.to(weight.dtype).float()
        if is_integer:
            return scale, (zero / scale - 8).round().clamp(-15, 0) * scale
        return scale, zero.to(weight.dtype).float() - 8 * scale

    numbers, scales, minima = quantize_columns(
        hessian, weight, group, choose, lambda x: x.round().clamp(0, 15), damping, block
    )
    stored = scales.to(weight.dtype)
    if is_integer:
        zero_point = (-minima / scales).round().to(torch.int8)
        cls = Int4PlainInt32Tensor
        return plain_int32.from_numbers(cls, numbers, stored, zero_point, block_size)
    zero = (minima + 8 * scales).to(weight.dtype)
    if format == "tile_packed_to_4d":
        cls = Int4TilePackedTo4dTensor
        return tile_packed.from_numbers(cls, numbers, stored, zero, block_size)
    data = pack((numbers - 8).to(torch.int8))
    parameters = stored.t().contiguous(), zero.t().contiguous()
    return Int4Tensor(data, *parameters, block_size, weight.shape)


def _quantize_int8(hessian: Tensor, weight: Tensor, config: Any, damping: float, block: int) -> Any:
    from torchao.quantization import Int8Tensor, PerRow

    if not isinstance(config.granularity, PerRow):
        raise ValueError("GPTQ makes int8 with a scale for each row: PerRow()")
    tensor = Int8Tensor.from_hp(weight, config.granularity)
    minimum = torch.zeros_like(tensor.scale)
    tensor.qdata = quantize_columns(
        hessian,
        weight,
        weight.shape[1],
        lambda columns: (tensor.scale, minimum),
        lambda x: x.round().clamp(-128, 127),
        damping,
        block,
    )[0].to(torch.int8)
    return tensor
