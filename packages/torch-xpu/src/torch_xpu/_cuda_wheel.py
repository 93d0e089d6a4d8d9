"""PyTorch's wheel for CUDA: without an NVIDIA driver xpu replaces CUDA, with one both can be used."""

from __future__ import annotations

import functools
import threading
from collections.abc import Callable
from typing import Any

import torch

from . import _bridge


def install() -> None:
    """Adapt ``torch`` to a wheel for CUDA; do nothing on a wheel for the CPU."""
    if _bridge.coexists_with_cuda:
        _coexist_with_cuda()
    elif torch.version.cuda:
        # xpu has replaced CUDA's hooks, so CUDA must not count as compiled.
        torch.cuda._is_compiled = lambda: False


# How many functions of torch.xpu that ask whether it was compiled are on this thread's stack.
_inside = threading.local()


def _is_compiled() -> bool:
    """Return True to functions of ``torch.xpu``, False to all other callers."""
    return getattr(_inside, "depth", 0) > 0


def _coexist_with_cuda() -> None:
    """Keep CUDA the accelerator: hide xpu from Inductor and fake tensors, which look for it first."""
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
