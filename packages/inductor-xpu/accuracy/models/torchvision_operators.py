"""torchvision's operators, declared where its library does not load: the wheel on PyPI is for CUDA.

TIMM and transformers import its Python code, which expects them. None of the models calls them.
"""

from __future__ import annotations

from importlib.metadata import PackageNotFoundError, version

import torch


def declare() -> None:
    """Declare the operators if torchvision is a wheel for CUDA and PyTorch is not. Runs once."""
    try:
        is_for_cuda = "+" not in version("torchvision")
    except PackageNotFoundError:
        return
    if is_for_cuda and torch.version.cuda is None and not hasattr(torch.ops.torchvision, "nms"):
        for name in ("nms", "qnms"):
            arguments = "Tensor boxes, Tensor scores, float limit"
            torch.library.define(f"torchvision::{name}", f"({arguments}) -> Tensor")
