"""Exact C++ literals of numbers."""

from __future__ import annotations

from typing import Any

import numpy as np

from .elements import Element


def literal(value: Any, element: Element) -> str:
    """Return an exact literal of a number, by its bits where C++ has no literal of the value."""
    if element.kind == "bool":
        return "true" if value else "false"
    if element.kind == "complex":
        part = "float" if element.math == "Complex<float>" else "double"
        return f"{element.math}({real_literal(value.real, part)}, {real_literal(value.imag, part)})"
    if element.kind == "float":
        return real_literal(value, element.math)
    if element.size == 8:
        return f"bits_as<{element.math}>({int(value) % 2**64:#x}ul)"
    return f"({element.math})({int(value)}{'u' if element.kind == 'uint' else ''})"


def real_literal(value: Any, type: str) -> str:
    """Return a literal of the C++ type "float" or "double"; zeros keep their sign and NaNs their bits."""
    if type == "float":
        single = np.float32(value)
        if not np.isfinite(single) or single == 0:
            return f"bits_as<float>({int(single.view(np.uint32)):#x}u)"
        return f"{float(single).hex()}f"
    number = np.float64(value)
    if not np.isfinite(number) or number == 0:
        return f"bits_as<double>({int(number.view(np.uint64)):#x}ul)"
    return float(number).hex()
