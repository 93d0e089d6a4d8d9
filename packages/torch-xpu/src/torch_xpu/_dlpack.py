"""Arrays without elements over DLPack: PyTorch asks memory which device it is on, and they have none."""

from __future__ import annotations

from typing import Any

import torch

_from_dlpack = torch._C._from_dlpack


def _from_dlpack_or_empty(capsule: Any) -> torch.Tensor:
    try:
        return _from_dlpack(capsule)
    except RuntimeError as why:
        if "without XPU data" not in str(why):
            raise
        torch.xpu.init()
        from . import _device

        tensor = _device.empty_from_dlpack(capsule)
        if tensor is None:
            raise
        return tensor


def install() -> None:
    """Let ``torch.from_dlpack`` take what has no elements."""
    torch._C._from_dlpack = _from_dlpack_or_empty
