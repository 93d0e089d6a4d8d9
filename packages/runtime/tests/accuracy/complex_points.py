"""Complex arguments that reach every region of a function, and the error of complex results."""

from __future__ import annotations

import mpmath as mp
import numpy as np

REAL = {"c64": "f32", "c128": "f64"}
PARTS = {"c64": np.float32, "c128": np.float64}
WHOLE = {"c64": np.complex64, "c128": np.complex128}
# Digits that hold 1 beside the square of the smallest number.
DIGITS = {"c64": 120, "c128": 700}
COUNT = {"c64": 60, "c128": 20}


def rounded(z: np.ndarray, dtype: str) -> np.ndarray:
    """In the type; points on an axis, where many digits know no signed zeros, are left out."""
    with np.errstate(over="ignore"):
        z = z.astype(WHOLE[dtype])
    return z[np.isfinite(z) & (z.real != 0) & (z.imag != 0)]


def sample(dtype: str, limits: tuple[float, float] = (np.inf, np.inf)) -> np.ndarray:
    """All magnitudes and quadrants; the unit circle, its four points, multiples of pi / 2, ends of exp."""
    n, rng, info = COUNT[dtype], np.random.default_rng(0), np.finfo(PARTS[dtype])
    top, eps = float(np.log(info.max)), np.log2(float(info.eps))
    low, high = np.log2(float(info.smallest_subnormal)), np.log2(float(info.max))

    def signed(first: float, last: float, count: int = n) -> np.ndarray:
        """Magnitudes spread over these powers of two, of either sign."""
        return np.exp2(rng.uniform(first, last, count)) * rng.choice([-1.0, 1.0], count)

    def rotated(radius: np.ndarray) -> np.ndarray:
        return radius * np.exp(1j * rng.uniform(-np.pi, np.pi, radius.size))

    quarter = rng.integers(-8, 9, n) * np.pi / 2
    parts = [
        rotated(signed(low, high)),
        signed(low, high) + 1j * signed(low, high),
        rotated(signed(-4, 8)),
        signed(-8, 8) + 1j * signed(-8, 8),
        rotated(1 + signed(eps, -1)),
        rotated(np.ones(n)),
        signed(eps - 4, 0) + 1j * quarter,
        quarter + 1j * signed(eps - 4, 0),
        rng.uniform(-1.1, 1.1, n) * top + 1j * signed(-3, 6),
        signed(-3, 6) + 1j * rng.uniform(-1.1, 1.1, n) * top,
    ]
    for point in (1, -1, 1j, -1j):
        along, across = point * signed(eps, 0), 1j * point * signed(low, 0)
        parts += [point + rotated(signed(eps - 1, 0)), point + along + across]
    z = rounded(np.concatenate(parts), dtype)
    return z[(np.abs(z.real) <= limits[0] * top) & (np.abs(z.imag) <= limits[1] * top)]


def errors(got: np.ndarray, expected: list, dtype: str, scale: float = 0.0) -> np.ndarray:
    """|got - expected| in epsilons of max(|expected|, scale, the smallest normal number).

    Beyond the largest finite number, which |expected| may pass before its parts do, anything but NaN in
    both parts is right.
    """
    info = np.finfo(PARTS[dtype])
    largest, floor = mp.mpf(float(info.max)), mp.mpf(max(float(info.tiny), scale))
    result = np.empty(got.size)
    for i, (value, exact) in enumerate(zip(got, expected, strict=True)):
        if abs(exact) > largest:
            result[i] = np.inf if np.isnan(value.real) and np.isnan(value.imag) else 0.0
        elif not np.isfinite(value):
            result[i] = np.inf
        else:
            distance = abs(mp.mpmathify(complex(value)) - exact)
            result[i] = float(distance / max(abs(exact), floor) / mp.mpf(float(info.eps)))
    return result
