"""What the device library's functions are, in float64, from numpy and scipy."""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
import scipy.special as sp

where = np.where


def lgamma(x):
    """scipy's, infinite at the poles."""
    return where((x <= 0) & (x == np.floor(x)), np.inf, sp.gammaln(x))


def pole_nan(function: Callable) -> Callable:
    """NaN at negative integers."""
    return lambda x: where((x < 0) & (x == np.floor(x)), np.nan, function(x))


def from_zero(function: Callable) -> Callable:
    """NaN below zero."""
    return lambda x: where(x < 0, np.nan, function(x))


def at_infinity(function: Callable, value: float) -> Callable:
    """With this limit at both infinities."""
    return lambda x: where(np.isinf(x), value, function(x))


def trigamma(x):
    """By reflection on the left, where scipy has nothing."""
    sine = where(np.fmod(x, 1) == 0, 0.0, np.sin(np.pi * np.fmod(x, 1)))
    right = sp.polygamma(1, where(x < 0, 1 - x, x))
    return where(x < 0, np.pi**2 / sine**2 - right, right)


def sinpi(x):
    """Exact at the zeros."""
    return where(np.fmod(x, 1) == 0, np.copysign(0.0, x), np.sin(np.pi * np.fmod(x, 2)))


def cospi(x):
    """Exact at the zeros."""
    return where(np.fmod(np.abs(x), 1) == 0.5, 0.0, np.cos(np.pi * np.fmod(x, 2)))


def tanpi(x):
    """Exact at zeros and poles."""
    return sinpi(x) / cospi(x)


def round_away(x):
    """Ties away from zero."""
    r = np.trunc(x)
    return where(np.abs(x - r) >= 0.5, r + np.sign(x), r)


def copy_sign_of_zero(result, x):
    """-0 where the result is a zero got from below."""
    return where(result == 0, np.copysign(result, x), result)


def tanhshrink(x):
    """By series where the difference cancels."""
    z = x * x
    series = x * z * (1 / 3 - z * (2 / 15 - z * (17 / 315 - z * (62 / 2835 - z * 1382 / 155925))))
    return where(np.abs(x) < 0.1, series, x - np.tanh(x))


def logit(x):
    """By atanh around one half."""
    return where(np.abs(x - 0.5) < 0.25, 2 * np.arctanh(2 * x - 1), sp.logit(x))


def softplus(x):
    """Return log(1 + exp(x))."""
    return np.logaddexp(0.0, x)


def gelu(x):
    """Return x P(X < x), with its limit at minus infinity."""
    return where(x == -np.inf, -0.0, x * sp.ndtr(x))


def tanh_argument(x):
    """Return twice sqrt(2/pi) (x + 0.044715 x^3)."""
    return 2 * np.sqrt(2 / np.pi) * (x + 0.044715 * x**3)


def gelu_tanh(x):
    """Return x logistic(2u)."""
    return x * sp.expit(tanh_argument(x))


def gelu_derivative(x):
    """Return P(X < x) + x p(x)."""
    density = np.exp(-0.5 * x * x) / np.sqrt(2 * np.pi)
    return sp.ndtr(x) + where(density == 0, 0.0, x * density)


def gelu_tanh_derivative(x):
    """The chain rule on x logistic(2u)."""
    u = tanh_argument(x)
    slope = 2 * np.sqrt(2 / np.pi) * (x + 3 * 0.044715 * x**3)
    d = sp.expit(u) * sp.expit(-u)
    return sp.expit(u) + where(d == 0, 0.0, d * slope)


def mish(x):
    """Return x tanh(softplus(x))."""
    return x * where(x < -20, np.exp(x), np.tanh(softplus(x)))


def hard(x):
    """Return clamp(x + 3, 0, 6) / 6."""
    return np.clip(x + 3, 0, 6) / 6


SELU_SCALE, SELU_ALPHA = 1.0507009873554805, 1.6732632423543772

UNARY: dict[str, Callable] = {
    "abs": np.abs,
    "neg": np.negative,
    "floor": np.floor,
    "ceil": np.ceil,
    "trunc": np.trunc,
    "round_even": np.rint,
    "round_away": round_away,
    "frac": lambda x: x - np.trunc(x),
    "square": np.square,
    "reciprocal": lambda x: 1 / x,
    "sqrt": np.sqrt,
    "rsqrt": lambda x: 1 / np.sqrt(x),
    "cbrt": np.cbrt,
    "rcbrt": lambda x: 1 / np.cbrt(x),
    "sign": lambda x: where(np.isnan(x), 0, np.sign(x)),
    "sign_nan": np.sign,
    "saturate": lambda x: where(np.isnan(x), 0, np.clip(x, 0, 1)),
    "logb": lambda x: where(
        np.isinf(x), np.inf, where(x == 0, -np.inf, np.frexp(x)[1] - 1 + 0 * x)
    ),
    "isnan": np.isnan,
    "isinf": np.isinf,
    "isfinite": np.isfinite,
    "isposinf": np.isposinf,
    "isneginf": np.isneginf,
    "signbit": np.signbit,
    "exp": np.exp,
    "exp2": np.exp2,
    "exp10": lambda x: 10.0**x,
    "expm1": np.expm1,
    "log": np.log,
    "log2": np.log2,
    "log10": np.log10,
    "log1p": np.log1p,
    "logistic": sp.expit,
    "log_sigmoid": sp.log_expit,
    "logit": logit,
    "entr": sp.entr,
    "sin": np.sin,
    "cos": np.cos,
    "tan": np.tan,
    "sinpi": sinpi,
    "cospi": cospi,
    "tanpi": tanpi,
    "asin": np.arcsin,
    "acos": np.arccos,
    "atan": np.arctan,
    "asinpi": lambda x: np.arcsin(x) / np.pi,
    "acospi": lambda x: np.arccos(x) / np.pi,
    "atanpi": lambda x: np.arctan(x) / np.pi,
    "deg2rad": np.deg2rad,
    "rad2deg": np.rad2deg,
    "sinc": lambda x: where(x == 0, 1, sinpi(x) / (np.pi * x)),
    "sinh": np.sinh,
    "cosh": np.cosh,
    "tanh": np.tanh,
    "asinh": np.arcsinh,
    "acosh": np.arccosh,
    "atanh": np.arctanh,
    "erf": sp.erf,
    "erfc": sp.erfc,
    "erfcx": sp.erfcx,
    "erfinv": sp.erfinv,
    "erfcinv": sp.erfcinv,
    "ndtr": sp.ndtr,
    "ndtri": sp.ndtri,
    "log_ndtr": sp.log_ndtr,
    "gelu": gelu,
    "gelu_tanh": gelu_tanh,
    "gelu_derivative": gelu_derivative,
    "gelu_tanh_derivative": gelu_tanh_derivative,
    "relu": lambda x: where(x <= 0, 0, x),
    "relu6": lambda x: where(x <= 0, 0, np.minimum(x, 6)),
    "hardsigmoid": hard,
    "hardswish": lambda x: x * hard(x),
    "softsign": lambda x: x / (1 + np.abs(x)),
    "tanhshrink": tanhshrink,
    "silu": lambda x: x * sp.expit(x),
    "selu": lambda x: SELU_SCALE * where(x > 0, x, SELU_ALPHA * np.expm1(x)),
    "mish": mish,
    "lgamma": lgamma,
    "tgamma": pole_nan(sp.gamma),
    "digamma": lambda x: where(x == 0, np.copysign(np.inf, -x), pole_nan(sp.psi)(x)),
    "trigamma": trigamma,
    "j0": at_infinity(sp.j0, 0.0),
    "j1": at_infinity(sp.j1, 0.0),
    "y0": from_zero(at_infinity(sp.y0, 0.0)),
    "y1": from_zero(at_infinity(sp.y1, 0.0)),
    "spherical_j0": at_infinity(lambda x: where(x == 0, 1, np.sin(x) / x), 0.0),
    "i0": at_infinity(sp.i0, np.inf),
    "i0e": sp.i0e,
    "i1": lambda x: where(np.isinf(x), x, sp.i1(x)),
    "i1e": sp.i1e,
    "k0": from_zero(sp.k0),
    "k0e": from_zero(sp.k0e),
    "k1": from_zero(sp.k1),
    "k1e": from_zero(sp.k1e),
}


def ordered(pick: Callable) -> Callable:
    """Return numpy's maximum or minimum, with -0 below +0."""

    def function(x, y):
        tie = where(np.signbit(x) == np.signbit(y), x, pick(1.0, -1.0) * 0.0)
        return where(x == y, tie, pick(x, y))

    return function


def floor_div(x, y):
    """Python's, with the division itself by zero."""
    return where(y == 0, x / y, np.floor_divide(x, y))


def fdim(x, y):
    """The positive difference."""
    return where(np.isnan(x) | np.isnan(y), np.nan, where(x > y, x - y, 0))


def zero_at_zero(x, product, y):
    """0 where x is 0 unless y is NaN."""
    return where(np.isnan(y), np.nan, where(x == 0, 0, product))


def round_decimals(x, y):
    """Round as numpy does, by powers of ten."""
    scale = 10.0 ** np.abs(y)
    return where(y < 0, np.rint(x / scale) * scale, np.rint(x * scale) / scale)


def ieee_remainder(x: float, y: float) -> float:
    """math.remainder without its exceptions."""
    return math.remainder(x, y) if math.isfinite(x) and y != 0 and not math.isnan(y) else math.nan


BINARY: dict[str, Callable] = {
    "copysign": np.copysign,
    "maximum": ordered(np.maximum),
    "minimum": ordered(np.minimum),
    "fmax": np.fmax,
    "fmin": np.fmin,
    "add": np.add,
    "sub": np.subtract,
    "mul": np.multiply,
    "div": np.divide,
    "trunc_div": lambda x, y: np.trunc(x / y),
    "floor_div": floor_div,
    "fmod": np.fmod,
    "remainder": np.remainder,
    "remainder_ieee": np.vectorize(ieee_remainder, otypes=[float]),
    "fdim": fdim,
    "hypot": np.hypot,
    "rhypot": lambda x, y: 1 / np.hypot(x, y),
    "heaviside": np.heaviside,
    "round_decimals": round_decimals,
    "pow": np.power,
    "logaddexp": np.logaddexp,
    "logaddexp2": np.logaddexp2,
    "xlogy": lambda x, y: zero_at_zero(x, x * np.log(y), y),
    "xlog1py": lambda x, y: zero_at_zero(x, x * np.log1p(y), y),
    "atan2": np.arctan2,
    "leaky_relu": lambda x, y: where(x > 0, x, x * y),
    "hardshrink": lambda x, y: where((x >= -y) & (x <= y), 0, x),
    "softshrink": lambda x, y: where(x > y, x - y, where(x < -y, x + y, x * 0)),
    "elu": lambda x, y: where(x > 0, x, y * np.expm1(x)),
    "celu": lambda x, y: where(x > 0, x, y * np.expm1(x / y)),
    "zeta": sp.zeta,
    "igamma": sp.gammainc,
    "igammac": sp.gammaincc,
    "polygamma": lambda n, x: where(n == 0, UNARY["digamma"](x), sp.polygamma(n.astype(int), x)),
}


def exact_fma(x: float, y: float, z: float) -> float:
    """Return x y + z with one rounding."""
    if not (math.isfinite(x) and math.isfinite(y) and math.isfinite(z)):
        return x * y + z
    return float(Fraction(x) * Fraction(y) + Fraction(z))


TERNARY: dict[str, Callable] = {
    "fma": np.vectorize(exact_fma, otypes=[float]),
    "norm3d": lambda x, y, z: np.hypot(np.hypot(x, y), z),
    "clamp": lambda x, y, z: np.minimum(np.maximum(x, y), z),
    "lerp": lambda x, y, z: x + z * (y - x),
    "hardtanh": lambda x, y, z: where(x < y, y, where(x > z, z, x)),
    "threshold": lambda x, y, z: where(x <= y, z, x),
    "softplus": lambda x, y, z: where(x * y > z, x, softplus(x * y) / y),
}
