"""The devices for which kernels are written."""

from __future__ import annotations

from functools import cache

import torch
import xpu_runtime as xr
from xpu_runtime.codegen.target import Target


def target_of(device: torch.device) -> Target:
    """Return the properties of a device for the writers."""
    return _target(device.index or 0)


@cache
def _target(index: int) -> Target:
    return Target.of(xr.Device(index))
