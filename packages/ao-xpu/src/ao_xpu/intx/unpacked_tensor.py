"""IntxUnpackedToInt8Tensor on xpu, which stores a number of any bits as a byte."""

from __future__ import annotations

from typing import Any

from torch import Tensor

from ..linear_plans import Plan, planned_linear
from ..operators.low_bit_linear import fits, low_bit_plan


def _plan(weight: Any) -> Plan | None:
    """Plan products by an IntxUnpackedToInt8Tensor as it is stored."""
    from torchao.quantization.quantize_.workflows.intx import intx_unpacked_to_int8_tensor

    data, scale, zero_point = weight.qdata, weight.scale, weight.zero_point
    if not data.is_xpu or not fits(data, scale, zero_point):
        return None
    plan = low_bit_plan("int8", scale, zero_point)
    if weight.activation_quantization is None:
        return plan
    if weight.activation_quantization != "int8_asym_per_token":
        return None

    def multiply(input: Tensor, data: Tensor, bias: Tensor | None) -> Any:
        if input.numel() == 0:
            return NotImplemented
        quantize = intx_unpacked_to_int8_tensor._apply_int8_act_asym_per_token_quant_dequant
        return plan(quantize(input), data, bias)

    return multiply


linear = planned_linear(_plan)
