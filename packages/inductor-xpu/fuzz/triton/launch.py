"""How a random kernel is loaded and launched, on xpu and in the interpreter alike."""

from __future__ import annotations

import importlib.util
from pathlib import Path
from typing import Any

import torch


def load_kernel(folder: Path) -> Any:
    """Return the kernel of a module: Triton reads the source of its functions from the file."""
    spec = importlib.util.spec_from_file_location(
        f"kernel_{abs(hash(folder))}", folder / "kernel.py"
    )
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.kernel


def launch(kernel: Any, arguments: dict[str, Any], device: str) -> list[torch.Tensor]:
    """Run a kernel and return what it wrote. Products and sums are not fused, so that results are equal."""
    inputs = [tensor.to(device) for tensor in arguments["inputs"]]
    outputs = [tensor.to(device) for tensor in arguments["outputs"]]
    options = {} if device == "cpu" else {"enable_fp_fusion": False}
    kernel[arguments["grid"]](*inputs, *outputs, *arguments["numbers"], **options)
    return [tensor.cpu() for tensor in outputs]
