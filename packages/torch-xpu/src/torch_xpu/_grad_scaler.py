"""Gradient scaling on devices without 64-bit floats, in which PyTorch inverts the scale."""

from __future__ import annotations

import functools
from types import ModuleType
from typing import Any

import torch

from . import import_hooks


def install() -> None:
    """Let the host compute the reciprocal for such devices, in each class that does not ask PyTorch's."""
    _invert_on_host(torch.amp.GradScaler)
    import_hooks.change({"torch.distributed.fsdp.sharded_grad_scaler": _change_sharded})


def _change_sharded(module: ModuleType) -> None:
    _invert_on_host(module.ShardedGradScaler)


def _invert_on_host(scaler: Any) -> None:
    stock = scaler.unscale_

    @functools.wraps(stock)
    def unscale_(self: Any, optimizer: torch.optim.Optimizer) -> None:
        # A scaler that is disabled has no scale, and one that has scaled nothing yet has None.
        scale = getattr(self, "_scale", None)
        if scale is None or not _lacks_f64(scale.device):
            return stock(self, optimizer)
        self._scale = scale.cpu()
        try:
            return stock(self, optimizer)
        finally:
            self._scale = scale

    scaler.unscale_ = unscale_


def _lacks_f64(device: torch.device) -> bool:
    if device.type != "xpu":
        return False
    properties: Any = torch.xpu.get_device_properties(device)
    return not properties.has_fp64
