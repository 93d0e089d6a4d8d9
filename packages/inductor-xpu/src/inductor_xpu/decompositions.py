"""Inductor's decompositions, without those that are slower on xpu than the operator."""

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
    table = {**stock, **{operator: _on_other_devices(stock[operator]) for operator in _WHOLE}}
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
