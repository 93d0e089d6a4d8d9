"""LSTM networks in compilers: PyTorch's decomposition in Python serves xpu as it does other devices.

The kernel of xpu (csrc/aten/nn/lstm.cpp) would come before it, and be run with fake tensors.
"""

from __future__ import annotations

from types import ModuleType

import torch

from . import import_hooks


def _decompose_on_xpu(decompositions: ModuleType) -> None:
    for key in (torch._C.DispatchKey.AutogradXPU, torch._C.DispatchKey.XPU):
        torch.ops.aten.lstm.input.py_impl(key)(decompositions.lstm_impl)


def install() -> None:
    """Register the decomposition for xpu once PyTorch has imported it."""
    import_hooks.change({"torch._decomp.decompositions": _decompose_on_xpu})
