"""PyTorch's wheel for CUDA: without an NVIDIA driver xpu takes its place, with one both stand there."""

from __future__ import annotations

import functools
import threading
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


# How deep this thread is in functions of torch.xpu's that ask whether it was compiled.
_inside = threading.local()


def _is_compiled() -> bool:
    """Yes to functions of ``torch.xpu``, no to everybody else."""
    return getattr(_inside, "depth", 0) > 0


def _stand_beside() -> None:
    """CUDA stays the accelerator, and Inductor and fake tensors, who ask for xpu first, must not meet it."""
    parts = (torch.xpu, torch.xpu.memory, torch.xpu.random, torch.xpu.streams, torch.xpu.graphs)
    changes = {"_is_compiled": _is_compiled}
    for name in ("device_count", "_lazy_init", "get_arch_list"):
        changes[name] = _as_compiled(getattr(torch.xpu, name))
    for name, function in changes.items():
        for part in parts:
            if hasattr(part, name):
                setattr(part, name, function)
    torch._C._has_xpu = False


def _as_compiled(function: Callable[..., Any]) -> Callable[..., Any]:
    @functools.wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        _inside.depth = getattr(_inside, "depth", 0) + 1
        try:
            return function(*args, **named)
        finally:
            _inside.depth -= 1

    return call
