"""Whether this PyTorch is the one that the package was compiled for; other adapters of PyTorch ask too."""

from __future__ import annotations

import functools

import torch
from xpu_runtime.framework_version import Mismatch, find_mismatch


@functools.cache
def mismatch() -> Mismatch | None:
    """Return None if the adapter may load its libraries and change PyTorch."""
    return find_mismatch("torch-xpu", "torch", str(torch.__version__))
