"""Int4PreshuffledTensor on xpu: the data of the packing format `plain`, since no kernel wants another order.

With bf16 activations an element is ``group_scale * number + group_zero``. With fp8 activations it is
``row_scale * group_scale * number``; the group scales are e4m3 and have the shape [K / group, N].
"""

from __future__ import annotations

from typing import Any

import torch
from torch import Tensor

from .handlers import Handler, arguments_of_linear
from .int4 import (
    ACTIVATIONS,
    pack,
    quantize_asymmetric,
    quantize_symmetric,
    quantized_rows,
    require_groups,
    scaled_rows,
)
from .layers import DoesNotFitError
from .products import low_bit_linear


def from_hp(stock: Any) -> Any:
    """Quantize a weight [N, K] on xpu without mslk."""

    def quantize(
        cls: Any,
        w: Tensor,
        block_size: list[int],
        activation_dtype: torch.dtype = torch.bfloat16,
    ) -> Any:
        if w.device.type != "xpu":
            return stock.__func__(cls, w, block_size, activation_dtype)
        if w.dim() != 2 or len(block_size) != 2 or block_size[0] != 1:
            raise DoesNotFitError("preshuffled takes matrices, plain also takes batches")
        if activation_dtype not in ACTIVATIONS:
            raise ValueError(f"int4 on xpu has no activations of {activation_dtype}")
        require_groups(w, block_size)
        if activation_dtype == torch.bfloat16:
            numbers, scale, zero = quantize_asymmetric(w, block_size[-1])
            group_scale = scale.t().contiguous().to(w.dtype)
            group_zero = zero.t().contiguous().to(w.dtype)
            return cls(pack(numbers), group_scale, block_size, w.shape, group_zero=group_zero)
        rows, row_scale = quantized_rows(w.detach())
        numbers, scale = quantize_symmetric(rows, block_size[-1])
        group_scale = scale.t().contiguous().to(torch.float8_e4m3fn)
        row_scale = row_scale.squeeze(-1)
        return cls(pack(numbers), group_scale, block_size, w.shape, row_scale=row_scale)

    return classmethod(quantize)


def linear(stock: Handler) -> Handler:
    """Multiply by the weight as it is stored."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        input, weight, bias = arguments_of_linear(args, kwargs)
        if weight.device.type != "xpu":
            return stock(func, types, args, kwargs)
        scale = weight.group_scale.t()
        if weight.group_zero is not None:
            offset = weight.group_zero.t()
            return low_bit_linear(input, weight.qdata, "int4", scale, None, offset, bias)
        rows, row_scale = quantized_rows(input)
        product = low_bit_linear(rows, weight.qdata, "int4", scale) * weight.row_scale
        return scaled_rows(product, row_scale, bias, input.dtype)

    return handler
