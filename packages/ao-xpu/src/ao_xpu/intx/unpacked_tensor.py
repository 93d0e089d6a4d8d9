"""IntxUnpackedToInt8Tensor on xpu, which stores a number of any bits as a byte."""

from __future__ import annotations

from typing import Any

from ..handlers import Handler, arguments_of_linear, empty_product
from ..operators.low_bit_linear import fits, low_bit_linear


def linear(stock: Handler) -> Handler:
    """Multiply by an IntxUnpackedToInt8Tensor as it is stored."""

    def handler(func: Any, types: Any, args: Any, kwargs: Any) -> Any:
        from torchao.quantization.quantize_.workflows.intx import intx_unpacked_to_int8_tensor

        input, weight, bias = arguments_of_linear(args, kwargs)
        scale, zero_point = weight.scale, weight.zero_point
        if weight.device.type != "xpu" or not fits(weight.qdata, scale, zero_point):
            return stock(func, types, args, kwargs)
        if input.numel() == 0:
            return empty_product(input, weight, bias)
        if weight.activation_quantization is not None:
            if weight.activation_quantization != "int8_asym_per_token":
                return stock(func, types, args, kwargs)
            fake_quantize = (
                intx_unpacked_to_int8_tensor._apply_int8_act_asym_per_token_quant_dequant
            )
            input = fake_quantize(input)
        return low_bit_linear(input, weight.qdata, "int8", scale, zero_point, None, bias)

    return handler
