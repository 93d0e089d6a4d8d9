"""The complex device functions to many digits, and NumPy's for the special values."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import mpmath as mp
import numpy as np

UNBOUNDED = (np.inf, np.inf)
EXPONENTIAL = (1.1, np.inf)  # the largest |Re z|, in units of the logarithm of the largest number
PERIODIC = (np.inf, 1.1)


def log1p(z):
    """log(1 + z); the caller's digits are enough."""
    return mp.log(1 + z)


def expm1(z):
    """exp(z) - 1; the caller's digits are enough."""
    return mp.exp(z) - 1


def sinc(z):
    """Return sin(pi z) / (pi z)."""
    return mp.sin(mp.pi * z) / (mp.pi * z)


def nearer_end(x, y, w):
    """Linear interpolation."""
    return x + w * (y - x)


# Name -> (function, largest |Re z| and |Im z| as multiples of the logarithm of the largest number).
UNARY: dict[str, tuple[Callable[[Any], Any], tuple[float, float]]] = {
    "abs": (abs, UNBOUNDED),
    "neg": (lambda z: -z, UNBOUNDED),
    "conj": (mp.conj, UNBOUNDED),
    "real": (mp.re, UNBOUNDED),
    "imag": (mp.im, UNBOUNDED),
    "angle": (mp.arg, UNBOUNDED),
    "sgn": (lambda z: z / abs(z), UNBOUNDED),
    "square": (lambda z: z * z, UNBOUNDED),
    "reciprocal": (lambda z: 1 / z, UNBOUNDED),
    "sqrt": (mp.sqrt, UNBOUNDED),
    "rsqrt": (lambda z: 1 / mp.sqrt(z), UNBOUNDED),
    "exp": (mp.exp, EXPONENTIAL),
    "exp2": (lambda z: mp.exp(z * mp.ln2), (1.6, 100.0)),
    "expm1": (expm1, EXPONENTIAL),
    "log": (mp.log, UNBOUNDED),
    "log2": (lambda z: mp.log(z) / mp.ln2, UNBOUNDED),
    "log10": (lambda z: mp.log(z) / mp.ln10, UNBOUNDED),
    "log1p": (log1p, UNBOUNDED),
    "logistic": (lambda z: 1 / (1 + mp.exp(-z)), EXPONENTIAL),
    "sin": (mp.sin, PERIODIC),
    "cos": (mp.cos, PERIODIC),
    "tan": (mp.tan, PERIODIC),
    "sinc": (sinc, (100.0, 0.4)),
    "asin": (mp.asin, UNBOUNDED),
    "acos": (mp.acos, UNBOUNDED),
    "atan": (mp.atan, UNBOUNDED),
    "sinh": (mp.sinh, EXPONENTIAL),
    "cosh": (mp.cosh, EXPONENTIAL),
    "tanh": (mp.tanh, EXPONENTIAL),
    "asinh": (mp.asinh, UNBOUNDED),
    "acosh": (mp.acosh, UNBOUNDED),
    "atanh": (mp.atanh, UNBOUNDED),
}

BINARY: dict[str, Callable[[Any, Any], Any]] = {
    "add": lambda x, y: x + y,
    "sub": lambda x, y: x - y,
    "mul": lambda x, y: x * y,
    "div": lambda x, y: x / y,
    "pow": lambda x, y: mp.exp(y * mp.log(x)),
}
TERNARY = {"lerp": nearer_end}
# Of two real numbers.
FROM_REAL = {"complex": mp.mpc, "polar": lambda r, t: mp.mpc(r * mp.cos(t), r * mp.sin(t))}


def special_expm1(z):
    """np.expm1 where there are finite numbers, exp(z) - 1, whose infinities C99 defines, elsewhere."""
    return np.where(np.isfinite(z), np.expm1(z), np.exp(z) - 1)


NUMPY: dict[str, Callable[[np.ndarray], np.ndarray]] = {
    "abs": np.abs,
    "neg": np.negative,
    "conj": np.conj,
    "real": np.real,
    "imag": np.imag,
    "angle": np.angle,
    "sgn": np.sign,
    "square": np.square,
    "reciprocal": np.reciprocal,
    "sqrt": np.sqrt,
    "exp": np.exp,
    "exp2": np.exp2,
    "expm1": special_expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
}
