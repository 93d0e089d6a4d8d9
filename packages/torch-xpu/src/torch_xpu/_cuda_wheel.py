"""PyTorch's wheel for CUDA: without an NVIDIA driver xpu takes its place, with one both stand there."""

from __future__ import annotations

import functools
from collections.abc import Callable
from typing import Any

import torch

from . import _bridge


def install() -> None:
    """Nothing on a wheel for the CPU."""
    if _bridge.beside_cuda:
        _stand_beside()
    elif torch.version.cuda:
        # The hooks are replaced: what asks whether CUDA was compiled must hear the same.
        torch.cuda._is_compiled = lambda: False


def _stand_beside() -> None:
    """CUDA stays the accelerator, and Inductor and fake tensors, who ask for xpu first, must not meet it."""
    parts = (torch.xpu, torch.xpu.memory, torch.xpu.random, torch.xpu.streams, torch.xpu.graphs)
    for name in ("device_count", "_lazy_init", "get_arch_list"):
        function = _as_compiled(getattr(torch.xpu, name))
        for part in parts:
            if hasattr(part, name):
                setattr(part, name, function)
    torch._C._has_xpu = False


def _as_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        torch._C._has_xpu = True
        try:
            return function(*args, **named)
        finally:
            torch._C._has_xpu = False

    return call
