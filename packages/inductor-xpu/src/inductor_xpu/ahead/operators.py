"""Operators of torch-xpu that C++ calls by C functions, as it calls PyTorch's."""

from __future__ import annotations

from typing import Any

import torch

# Those that graphs call: others go through a slower, general function.
_NAMES = (
    *("fused_gemm", "fused_convolution", "low_bit_linear", "dynamic_linear", "quantize_rows"),
    *("dequantize_low_bit", "round_blocks", "unpack_bits"),
)
_NAMESPACE = "torch_xpu::"


def with_functions(known: dict[Any, list[str]]) -> dict[Any, list[str]]:
    """Return Inductor's setting of operators with C functions, with ours, which headers declare."""
    return known | {getattr(torch.ops.torch_xpu, name).default: [] for name in _NAMES}


def function_name(kernel: str) -> str | None:
    """Return the name of the C function of an operator of ours; None for others."""
    if not kernel.startswith(_NAMESPACE):
        return None
    return f"aoti_torch_xpu_torch_xpu_{kernel.removeprefix(_NAMESPACE)}"
