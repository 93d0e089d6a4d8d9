"""Layers on xpu that `quantize_` leaves as they are: named in one warning, or in the error of strict mode."""

from __future__ import annotations

import contextlib
import warnings
import weakref
from collections.abc import Callable
from typing import Any

import torch
from torch import Tensor

from ..errors import DoesNotFitError
from .strict import is_strict, restored_on_error

# Why layers are as they were after quantize_.
skip_reasons: weakref.WeakKeyDictionary[torch.nn.Module, str] = weakref.WeakKeyDictionary()


def name_skipped(stock: Any) -> Any:
    """Name in one warning the layers on xpu that match the filter of quantize_ and stay as they were."""

    def replace(
        model: torch.nn.Module,
        replacement_fn: Callable[..., torch.nn.Module],
        filter_fn: Callable[[torch.nn.Module, str], bool],
        cur_fqn: str = "",
        device: Any = None,
        extra_args: Any = (),
    ) -> Any:
        if cur_fqn or len(extra_args) != 1:
            return stock(model, replacement_fn, filter_fn, cur_fqn, device, extra_args)
        names: dict[int, str] = {}
        skipped: list[str] = []

        def matches(module: torch.nn.Module, name: str) -> bool:
            names[id(module)] = name
            return filter_fn(module, name)

        def quantize(module: torch.nn.Module, config: Any) -> torch.nn.Module:
            cls, reason = type(module), None
            try:
                result = replacement_fn(module, config)
            except DoesNotFitError as error:
                if hasattr(config, "step"):  # the layer is in the middle of GPTQ or of training
                    raise
                result, reason = module, str(error)
            weight = getattr(result, "weight", None)
            is_unchanged = result is module and type(result) is cls and is_plain(weight)
            if is_unchanged and isinstance(weight, Tensor) and weight.device.type == "xpu":
                skip_reasons[module] = reason = reason or _reason(weight, config)
                skipped.append(f"{names[id(module)] or type(module).__name__} ({reason})")
            return result

        with restored_on_error(model) if is_strict.get() else contextlib.nullcontext():
            result = stock(model, quantize, matches, cur_fqn, device, extra_args)
            message = f"not quantized: {', '.join(skipped)}"
            if skipped and is_strict.get():
                raise DoesNotFitError(message)
        if skipped:
            warnings.warn(message, stacklevel=3)
        return result

    return replace


def _reason(weight: Tensor, config: Any) -> str:
    group = getattr(config, "group_size", None)
    if isinstance(group, int) and weight.shape[-1] % group:
        return f"rows of {weight.shape[-1]} elements are no groups of {group}"
    shape, dtype = tuple(weight.shape), str(weight.dtype).removeprefix("torch.")
    return f"{type(config).__name__} does not take a weight {shape} of {dtype}"


def is_plain(weight: Any) -> bool:
    """Return whether a weight is no tensor of torchao or of this package."""
    return type(weight) in (Tensor, torch.nn.Parameter)
