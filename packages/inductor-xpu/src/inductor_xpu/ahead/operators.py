"""Operators that C++ calls by C functions of torch-xpu, beside those for which PyTorch has functions."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

import torch
from torchgen.aoti import fallback_ops

# Those that graphs call: others go through a slower, general function.
_NAMES = (
    *("fused_gemm", "fused_convolution", "low_bit_linear", "dynamic_linear", "quantize_rows"),
    *("dequantize_low_bit", "round_blocks", "unpack_bits"),
)
_NAMESPACE = "torch_xpu::"
# Operators of PyTorch's that take a device: its general function gives them one of CUDA. torch-xpu's
# generator of functions has this list, too.
WITH_DEVICES = (
    *("aten.full.default", "aten.linspace.default", "aten.logspace.default"),
    *("aten.tril_indices.default", "aten.triu_indices.default"),
)


@contextmanager
def more_functions() -> Iterator[None]:
    """Return a `with` block in which Inductor knows that PyTorch's operators of ours have functions."""
    known = fallback_ops.inductor_fallback_ops
    added = [name for name in WITH_DEVICES if name not in known]
    known.update({name: {} for name in added})
    try:
        yield
    finally:
        for name in added:
            del known[name]


def with_functions(known: dict[Any, list[str]]) -> dict[Any, list[str]]:
    """Return Inductor's setting of operators with C functions, with ours, which headers declare."""
    return known | {getattr(torch.ops.torch_xpu, name).default: [] for name in _NAMES}


def function_name(kernel: str) -> str | None:
    """Return the name of the C function of an operator of ours; None for others."""
    if not kernel.startswith(_NAMESPACE):
        return None
    return f"aoti_torch_xpu_torch_xpu_{kernel.removeprefix(_NAMESPACE)}"
