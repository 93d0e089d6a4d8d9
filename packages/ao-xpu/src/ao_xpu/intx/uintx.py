"""UIntxBitPackedTensor on xpu: its weights of 4 bits are packed, those of 8 bits are stored as int8."""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .. import hqq
from ..errors import DoesNotFitError
from ..handlers import arguments_of
from ..operators.bit_packing import UNIT
from .configs import join_rows, require_groups


def from_hp(stock: Any) -> Any:
    """Quantize a weight on xpu without gemlite: 4 bits by HQQ, 8 bits symmetrically by rows."""

    def make(cls: Any, *args: Any, **kwargs: Any) -> Any:
        given = arguments_of(stock, args, kwargs)
        weight, group = given["hp_tensor"], given["group_size"]
        if weight.device.type != "xpu" or given["mode"] != "weight_only":
            return stock.__func__(cls, *args, **kwargs)
        if weight.dim() != 2:
            raise DoesNotFitError(f"uintx takes matrices, not {tuple(weight.shape)}")
        if given["bit_width"] == 8:
            return _int8_rows(weight.detach())
        group = group or weight.shape[1]
        require_groups(weight, group)
        if weight.shape[1] % UNIT:
            raise DoesNotFitError(f"rows of {weight.shape[1]} elements are no multiples of {UNIT}")
        # HQQ has 18 times the weight in copies.
        pieces = weight.detach().split(max(1, weight.shape[0] // 16))
        return join_rows([_hqq(rows, given["bit_width"], group) for rows in pieces])

    return classmethod(make)


def _int8_rows(weight: Tensor) -> Any:
    from torchao.quantization import IntxUnpackedToInt8Tensor

    numbers, scale = torch.ops.torch_xpu.quantize_rows(weight, torch.int8)
    zero_point = torch.zeros_like(scale, dtype=torch.int8)
    block_size = (1, weight.shape[1])
    options = (torch.int8, block_size, weight.dtype, None)
    return IntxUnpackedToInt8Tensor(numbers, scale, zero_point, *options)


def _hqq(weight: Tensor, bits: int, group: int) -> Any:
    from .packed_tensor import from_numbers

    numbers, scale, zero_point = hqq.quantize(weight, bits, group)
    parameters = (scale.to(weight.dtype), zero_point.float())
    return from_numbers(numbers.to(torch.uint8), *parameters, bits, weight.dtype)
