"""Kernels written once for every framework, over strided arrays.

Fills, copies, elementwise operations and reductions; scans; random fills.
"""

from __future__ import annotations

from .elementwise import Elementwise, Reduction, copy, fill, promote, reduce, reductions
from .random import (
    bernoulli,
    cauchy,
    exponential,
    geometric,
    integers,
    log_normal,
    normal,
    random_bits,
    uniform,
)
from .scan import Scan, cummax, cummin, cumprod, cumsum, logcumsumexp

__all__ = [
    "Elementwise",
    "Reduction",
    "Scan",
    "bernoulli",
    "cauchy",
    "copy",
    "cummax",
    "cummin",
    "cumprod",
    "cumsum",
    "exponential",
    "fill",
    "geometric",
    "integers",
    "log_normal",
    "logcumsumexp",
    "normal",
    "promote",
    "random_bits",
    "reduce",
    "reductions",
    "uniform",
]
