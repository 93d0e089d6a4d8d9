"""Inductor's decompositions, without those that are slower on xpu than the operator or for the CPU alone."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import torch

from . import eager_random

aten = torch.ops.aten
Table = dict[Any, Callable[..., Any]]

# Each element is a square root in f64, which some GPUs do not have, computed again by every reader.
_WHOLE = (aten.tril_indices.default, aten.triu_indices.default)


def register_whole_operators() -> None:
    """Tell Inductor to call the operators that are left as they are; elsewhere it never meets them."""
    from torch._inductor.lowering import fallback_handler, register_lowering

    for operator in _WHOLE:
        register_lowering(operator, type_promotion_kind=None)(fallback_handler(operator))


def decompositions(stock: Table) -> Table:
    """Return the table; for tensors on other devices its functions are the stock ones."""
    from torch.ao.quantization.fx import _decomposed  # noqa: F401  registers the operator

    table = {**stock, **{operator: _on_other_devices(stock[operator]) for operator in _WHOLE}}
    operator = torch.ops.quantized_decomposed.choose_qparams.tensor
    table[operator] = _choose_qparams(stock[operator])
    return eager_random.decompositions(table) if eager_random.is_on() else table


def _on_other_devices(decompose: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decomposition that leaves the operator as it is on xpu."""

    def decompose_on_other_devices(*args: Any, device: Any = None, **named: Any) -> Any:
        if device is not None and torch.device(device).type == "xpu":
            return NotImplemented
        return (
            decompose(*args, **named)
            if device is None
            else decompose(*args, device=device, **named)
        )

    return decompose_on_other_devices


def _choose_qparams(decompose: Callable[..., Any]) -> Callable[..., Any]:
    """Return a decomposition whose constants are on the input's device; the stock one's are on the CPU.

    As in eager mode the range contains 0. Without it, inputs that are all positive would saturate.
    """

    def choose_qparams_tensor(
        input: torch.Tensor, quant_min: int, quant_max: int, eps: float, dtype: torch.dtype
    ) -> Any:
        if input.device.type != "xpu":
            return decompose(input, quant_min, quant_max, eps, dtype)
        smallest, largest = (x.reshape(1) for x in torch.aminmax(input))
        smallest, largest = smallest.clamp(max=0), largest.clamp(min=0)
        scale = ((largest - smallest) / float(quant_max - quant_min)).clamp(min=eps)
        zero_point = (quant_min - torch.round(smallest / scale)).clamp(quant_min, quant_max)
        has_doubles = torch.xpu.get_device_properties(input.device).has_fp64
        return scale.to(torch.float64 if has_doubles else torch.float32), zero_point.to(torch.int64)

    return choose_qparams_tensor
