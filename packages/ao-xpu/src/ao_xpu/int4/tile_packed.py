"""Int4TilePackedTo4dTensor on xpu: numbers 0 to 15 as `_convert_weight_to_int4pack` packs them.

The data are int32 [N, K / 8], unpadded, the first number in the lowest bits; CUDA's are in tiles of four
dimensions, with the first number of a pair in the high bits. An element is ``scale * (number - 8) + zero``.
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor
from torch.compiler import is_compiling

from .. import hqq
from ..errors import DoesNotFitError
from ..handlers import Handler
from ..linear_plans import Plan, is_eager, planned_linear, scaled_activations
from ..operators.low_bit_linear import dequantize_low_bit, low_bit_linear, low_bit_plan
from .packing import pack_words
from .quantizers import require_groups


def from_hp(stock: Any) -> Any:
    """Quantize a weight [N, K] on xpu; neither a compute capability nor padding is asked for."""
    from torchao.quantization.quantize_.workflows import Int4ChooseQParamsAlgorithm

    def quantize(
        cls: Any,
        hp_tensor: Tensor,
        block_size: list[int],
        int4_choose_qparams_algorithm: Any = Int4ChooseQParamsAlgorithm.TINYGEMM,
        ntile_size: int | None = 8,
    ) -> Any:
        algorithm = int4_choose_qparams_algorithm
        if hp_tensor.device.type != "xpu":
            return stock.__func__(cls, hp_tensor, block_size, algorithm, ntile_size)
        require_fitting(hp_tensor, block_size)
        is_hqq = algorithm == Int4ChooseQParamsAlgorithm.HQQ
        if is_hqq:
            parts = hqq.quantize(hp_tensor, 4, block_size[-1], has_zero_points=False)
        else:
            parts = _quantize_tinygemm(hp_tensor.detach(), block_size[-1])
        return from_numbers(cls, *parts, block_size)

    return classmethod(quantize)


def require_fitting(weight: Tensor, block_size: list[int]) -> None:
    """Raise DoesNotFitError for what is no matrix of bf16 with rows of whole groups."""
    if weight.dim() != 2:
        raise DoesNotFitError("tile_packed_to_4d takes matrices")
    if weight.dtype != torch.bfloat16:
        raise DoesNotFitError(f"tile_packed_to_4d takes bfloat16, not {weight.dtype}")
    require_groups(weight, block_size)


def from_numbers(
    cls: Any, numbers: Tensor, scale: Tensor, zero: Tensor, block_size: list[int]
) -> Any:
    """Return the tensor of numbers 0 to 15 [N, K] with scales and zeros [N, K / group]."""
    data = pack_words(numbers)
    scale_and_zero = torch.stack((scale.t(), zero.t()), -1).to(torch.bfloat16)
    return cls(data, scale_and_zero, block_size, numbers.shape)


def _quantize_tinygemm(weight: Tensor, group: int) -> tuple[Tensor, Tensor, Tensor]:
    from torchao.quantization.quant_primitives import (
        MappingType,
        _choose_qparams_affine_tinygemm,
        _quantize_affine_tinygemm,
    )

    block_size = (1, group)
    scale, zero = _choose_qparams_affine_tinygemm(
        weight,
        mapping_type=MappingType.ASYMMETRIC,
        block_size=block_size,
        target_dtype=torch.int32,
        quant_min=0,
        quant_max=15,
        scale_dtype=weight.dtype,
        zero_point_dtype=weight.dtype,
    )
    numbers = _quantize_affine_tinygemm(
        weight, block_size, scale, zero, torch.int32, quant_min=0, quant_max=15
    )
    rows = weight.shape[0]
    return numbers, scale.reshape(rows, -1), zero.reshape(rows, -1)


def _plan(weight: Any) -> Plan | None:
    """Plan products by the weight as it is stored, in the layout of xpu."""
    scale_and_zero = weight.scale_and_zero
    if not weight.qdata.is_xpu:
        return None
    if weight.qdata.dim() != 2:
        raise ValueError(
            "a tile_packed_to_4d weight in CUDA's layout: load it with "
            "ao_xpu.checkpoints.load_checkpoint, or quantize it on xpu"
        )

    return scaled_activations(_plan_of_parts(scale_and_zero), weight.act_pre_scale)


def _plan_of_parts(scale_and_zero: Tensor) -> Plan:
    # What is computed in a capture belongs to its graph, and what is computed in a trace to the trace.
    if is_compiling() or torch.xpu.is_current_stream_capturing() or not is_eager(scale_and_zero):

        def multiply(input: Tensor, data: Tensor, bias: Tensor | None) -> Tensor:
            return low_bit_linear(input, data, "uint4", *_parameters(scale_and_zero), bias)

        return multiply
    with torch.inference_mode(False):
        parameters = _parameters(scale_and_zero)
    # Other streams read the zero point too.
    torch.xpu.current_stream(scale_and_zero.device).synchronize()
    return low_bit_plan("uint4", *parameters)


linear = planned_linear(_plan)


def slice_(stock: Handler) -> Handler:
    """Slice the layout of xpu, which has no tiles: along rows, or along columns by whole groups."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        weight = args[0]
        if weight.device.type != "xpu":
            return stock(func, types, args, kwargs)
        from .plain_int32_views import slice_bounds

        dim, begin, end = slice_bounds(weight, args)
        unit = weight.block_size[1] if dim == 1 else 1
        words = 8 if dim == 1 else 1
        data = weight.qdata.narrow(dim, begin // words, (end - begin) // words)
        parameters = weight.scale_and_zero.narrow(1 - dim, begin // unit, (end - begin) // unit)
        shape = list(weight.shape)
        shape[dim] = end - begin
        before = weight.act_pre_scale
        if isinstance(before, Tensor) and dim == 1 and before.numel() > 1:
            before = before.narrow(-1, begin, end - begin)
        return type(weight)(data, parameters, weight.block_size, shape, act_pre_scale=before)

    return handler


def dequantize(stock: Any) -> Any:
    """Add the method `dequantize` for weights on xpu; the class does not have it."""

    def elements(self: Any, output_dtype: torch.dtype | None = None) -> Tensor:
        if self.device.type != "xpu":
            return stock(self)
        parameters = _parameters(self.scale_and_zero)
        return dequantize_low_bit(self.qdata, "uint4", *parameters, output_dtype or self.dtype)

    return elements


def _parameters(scale_and_zero: Tensor) -> tuple[Tensor, Tensor, Tensor]:
    """Return scale, zero point and offset of the numbers; the first and the last are views [N, K / group]."""
    scale, zero = scale_and_zero.unbind(-1)
    eight = torch.full((), 8, dtype=torch.int8, device=scale_and_zero.device)
    return scale.t(), eight, zero.t()
