"""Floating-point formats of results: their precision, their range, and what one operation may lose."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class FloatFormat:
    """``epsilon`` is the last digit of 1. ``step_error`` bounds the relative error of one operation.

    Results below ``smallest`` may be flushed to zero.
    """

    name: str
    epsilon: float
    smallest: float
    largest: float
    step_error: float


# 16-bit formats are computed in f32 and rounded once. Sums of f32 and f64 round with each summand.
FORMATS = {
    each.name: each
    for each in (
        FloatFormat("f16", 2.0**-10, 2.0**-24, 65504.0, 2.0**-11),
        FloatFormat("bf16", 2.0**-7, 2.0**-126, (2 - 2.0**-7) * 2.0**127, 2.0**-8),
        FloatFormat("f32", 2.0**-23, 2.0**-126, (2 - 2.0**-23) * 2.0**127, 2.0**-20),
        FloatFormat("f64", 2.0**-52, 2.0**-1022, (2 - 2.0**-52) * 2.0**1023, 2.0**-49),
    )
}
_NAMES = {
    "float16": "f16",
    "bfloat16": "bf16",
    "float32": "f32",
    "float64": "f64",
    "complex64": "f32",
    "complex128": "f64",
    "c64": "f32",
    "c128": "f64",
}


def format_of(dtype: object) -> FloatFormat | None:
    """Return the format of a dtype of PyTorch, NumPy or the runtime; of complex numbers, of their parts."""
    name = str(dtype).removeprefix("torch.")
    return FORMATS.get(_NAMES.get(name, name))
