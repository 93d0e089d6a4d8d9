"""Packed weights in files of safetensors."""

from __future__ import annotations

from typing import Any


def classes(stock: Any) -> Any:
    """Let packed weights be read from files of safetensors."""
    from .packed_tensor import IntxPackedTensor

    return stock | {IntxPackedTensor.__name__: IntxPackedTensor}


def names(stock: Any) -> Any:
    """Let packed weights be written to files of safetensors."""
    return [*stock, "IntxPackedTensor"]
