"""The device functions to 30 digits, for what is expected of float64."""

from __future__ import annotations

import mpmath as mp
import numpy as np

mp.mp.dps = 30
root2 = mp.sqrt(2)


def tail(x):
    """P(X > x) of the normal distribution."""
    return mp.erfc(x / root2) / 2


def tanh_argument(x):
    """Return twice sqrt(2/pi) (x + 0.044715 x^3)."""
    return 2 * mp.sqrt(2 / mp.pi) * (x + mp.mpf("0.044715") * x**3)


def logistic(x):
    """Return 1 / (1 + exp(-x))."""
    return 1 / (1 + mp.exp(-x))


def density(x):
    """The normal density."""
    return mp.exp(-x * x / 2) / mp.sqrt(2 * mp.pi)


def tanh_slope(x):
    """The derivative of tanh_argument."""
    return 2 * mp.sqrt(2 / mp.pi) * (1 + 3 * mp.mpf("0.044715") * x * x)


def gelu_tanh_derivative(x):
    """The chain rule on x logistic(2u)."""
    s = logistic(tanh_argument(x))
    return s + x * s * (1 - s) * tanh_slope(x)


def erfcinv(z):
    """By Newton's method on log(erfc) from erfinv where there are digits for it."""
    return mp.erfinv(1 - z)


def scaled_k(order, x):
    """exp(x) K(x): the integral of exp(-x (cosh t - 1)) cosh(order t), by the trapezoidal rule."""
    x = np.longdouble(float(x))
    t = np.arange(0, 20 * 16, dtype=np.longdouble) / 16
    terms = np.exp(-2 * x * np.sinh(t / 2) ** 2) * np.cosh(order * t)
    return (terms.sum() - terms[0] / 2) / 16


def k(order, x):
    """K(x) of order 0 or 1."""
    return scaled_k(order, x) * np.exp(-np.longdouble(float(x)))


SELU_SCALE, SELU_ALPHA = (
    mp.mpf("1.0507009873554804934193349852946"),
    mp.mpf("1.6732632423543772848170429916717"),
)

# Name -> (function, lowest argument, highest argument).
UNARY = {
    "square": (lambda x: x * x, -50, 50),
    "reciprocal": (lambda x: 1 / x, -50, 50),
    "sqrt": (mp.sqrt, 0, 50),
    "rsqrt": (lambda x: 1 / mp.sqrt(x), 0, 50),
    "cbrt": (lambda x: mp.sign(x) * mp.cbrt(abs(x)), -50, 50),
    "rcbrt": (lambda x: mp.sign(x) / mp.cbrt(abs(x)), -50, 50),
    "exp": (mp.exp, -700, 700),
    "exp2": (lambda x: mp.mpf(2) ** x, -1000, 1000),
    "exp10": (lambda x: mp.mpf(10) ** x, -300, 300),
    "expm1": (mp.expm1, -50, 50),
    "log": (mp.log, 0, 50),
    "log2": (lambda x: mp.log(x, 2), 0, 50),
    "log10": (mp.log10, 0, 50),
    "log1p": (mp.log1p, -0.999, 50),
    "logistic": (logistic, -50, 50),
    "log_sigmoid": (lambda x: -mp.log1p(mp.exp(-x)), -50, 50),
    "logit": (lambda x: mp.log(x / (1 - x)), 1e-9, 1),
    "entr": (lambda x: -x * mp.log(x), 1e-9, 5),
    "sin": (mp.sin, -1e6, 1e6),
    "cos": (mp.cos, -1e6, 1e6),
    "tan": (mp.tan, -1e6, 1e6),
    "sinpi": (mp.sinpi, -50, 50),
    "cospi": (mp.cospi, -50, 50),
    "tanpi": (lambda x: mp.sinpi(x) / mp.cospi(x), -50, 50),
    "asin": (mp.asin, -1, 1),
    "acos": (mp.acos, -1, 1),
    "atan": (mp.atan, -50, 50),
    "asinpi": (lambda x: mp.asin(x) / mp.pi, -1, 1),
    "acospi": (lambda x: mp.acos(x) / mp.pi, -1, 1),
    "atanpi": (lambda x: mp.atan(x) / mp.pi, -50, 50),
    "deg2rad": (lambda x: x * mp.pi / 180, -50, 50),
    "rad2deg": (lambda x: x * 180 / mp.pi, -50, 50),
    "sinc": (lambda x: mp.sinpi(x) / (mp.pi * x), -50, 50),
    "sinh": (mp.sinh, -50, 50),
    "cosh": (mp.cosh, -50, 50),
    "tanh": (mp.tanh, -20, 20),
    "asinh": (mp.asinh, -50, 50),
    "acosh": (mp.acosh, 1, 50),
    "atanh": (mp.atanh, -1, 1),
    "erf": (mp.erf, -6, 6),
    "erfc": (mp.erfc, -6, 26),
    "erfcx": (lambda x: mp.exp(x * x) * mp.erfc(x), -20, 50),
    "erfinv": (mp.erfinv, -0.9999, 0.9999),
    "erfcinv": (erfcinv, 1e-6, 1.9999),
    "ndtr": (lambda x: tail(-x), -36, 9),
    "ndtri": (lambda p: -root2 * erfcinv(2 * p), 1e-6, 0.9999),
    "log_ndtr": (lambda x: mp.log1p(-tail(x)) if x > 0 else mp.log(tail(-x)), -36, 9),
    "gelu": (lambda x: x * tail(-x), -36, 50),
    "gelu_tanh": (lambda x: x * logistic(tanh_argument(x)), -15, 50),
    "gelu_derivative": (lambda x: tail(-x) + x * density(x), -20, 20),
    "gelu_tanh_derivative": (gelu_tanh_derivative, -15, 15),
    "hardsigmoid": (lambda x: min(max(x + 3, 0), 6) / 6, -5, 5),
    "hardswish": (lambda x: x * min(max(x + 3, 0), 6) / 6, -5, 5),
    "softsign": (lambda x: x / (1 + abs(x)), -50, 50),
    "tanhshrink": (lambda x: x - mp.tanh(x), -20, 20),
    "silu": (lambda x: x * logistic(x), -50, 50),
    "selu": (lambda x: SELU_SCALE * (x if x > 0 else SELU_ALPHA * mp.expm1(x)), -50, 50),
    "mish": (lambda x: x * mp.tanh(mp.log1p(mp.exp(x))), -50, 50),
    "lgamma": (lambda x: mp.re(mp.loggamma(x)), 1e-3, 50),
    "tgamma": (mp.gamma, -20, 50),
    "digamma": (mp.digamma, -20, 50),
    "trigamma": (lambda x: mp.polygamma(1, x), -20, 50),
    "j0": (lambda x: mp.besselj(0, x), -50, 50),
    "j1": (lambda x: mp.besselj(1, x), -50, 50),
    "y0": (lambda x: mp.bessely(0, x), 0, 50),
    "y1": (lambda x: mp.bessely(1, x), 0.01, 50),
    "spherical_j0": (lambda x: mp.sin(x) / x, -50, 50),
    "i0": (lambda x: mp.besseli(0, x), -50, 50),
    "i0e": (lambda x: mp.besseli(0, x) * mp.exp(-abs(x)), -50, 50),
    "i1": (lambda x: mp.besseli(1, x), -50, 50),
    "i1e": (lambda x: mp.besseli(1, x) * mp.exp(-abs(x)), -50, 50),
    "k0": (lambda x: k(0, x), 0, 50),
    "k0e": (lambda x: scaled_k(0, x), 0, 50),
    "k1": (lambda x: k(1, x), 0, 50),
    "k1e": (lambda x: scaled_k(1, x), 0, 50),
}
