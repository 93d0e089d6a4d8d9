"""Configs of quantize_ on xpu that torchao rejects before it looks at the weight."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from . import plain_int32


def int4_weight(stock: Any) -> Any:
    """Quantize to int4; `plain_int32` on xpu keeps the float zero points of HQQ."""

    def quantize(weight: Tensor, config: Any) -> Any:
        from torchao.quantization import Int4PlainInt32Tensor

        has_groups = weight.shape[-1] % config.group_size == 0
        is_plain_int32 = config.int4_packing_format == "plain_int32"
        if weight.device.type == "xpu" and is_plain_int32 and has_groups:
            plain_int32.require_fitting(weight, config.group_size)
            if config.int4_choose_qparams_algorithm == "hqq":
                block_size = [1, config.group_size]
                return plain_int32.quantize_hqq(Int4PlainInt32Tensor, weight, block_size)
        return stock(weight, config)

    return quantize
