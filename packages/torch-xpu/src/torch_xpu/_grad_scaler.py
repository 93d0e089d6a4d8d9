"""Gradient scaling on devices without 64-bit floats, in which PyTorch inverts the scale."""

from __future__ import annotations

import functools
from typing import Any

import torch


def install() -> None:
    """Let the host compute the reciprocal for such devices."""
    original = torch.amp.GradScaler.unscale_

    @functools.wraps(original)
    def unscale_(self: torch.amp.GradScaler, optimizer: torch.optim.Optimizer) -> None:
        scale = self._scale
        if scale is None or not _lacks_f64(scale.device):
            return original(self, optimizer)
        self._scale = scale.cpu()
        try:
            return original(self, optimizer)
        finally:
            self._scale = scale

    torch.amp.GradScaler.unscale_ = unscale_  # type: ignore[method-assign]


def _lacks_f64(device: torch.device) -> bool:
    if device.type != "xpu":
        return False
    properties: Any = torch.xpu.get_device_properties(device)
    return not properties.has_fp64
