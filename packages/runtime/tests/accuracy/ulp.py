"""Errors of a narrow result in units in the last place of the exact one."""

import numpy as np

# Bits of precision, exponent of the smallest normal, exponent of the largest finite (value below 2**it).
FORMATS = {
    "f16": (11, -14, 16),
    "bf16": (8, -126, 128),
    "f32": (24, -126, 128),
    "f64": (53, -1022, 1024),
}


def spacing(values: np.ndarray, dtype: str) -> np.ndarray:
    """Distance between neighbors of the format at these magnitudes."""
    precision, smallest, _ = FORMATS[dtype]
    exponent = np.frexp(np.where(np.isfinite(values) & (values != 0), values, 1e-300))[1]
    return np.ldexp(1.0, np.maximum(exponent - 1, smallest) - precision + 1)


def ulp_error(got: np.ndarray, expected: np.ndarray, dtype: str, scale: float = 0.0) -> np.ndarray:
    """|got - expected| in last places of max(|expected|, scale); infinite where the kinds differ.

    ``expected`` is float64 and not rounded. Beyond the largest finite value an infinity is taken as
    the number it rounds from, so that rounding up to it costs what it would cost anywhere else.
    """
    precision, _, largest = FORMATS[dtype]
    with np.errstate(invalid="ignore"):  # signalling NaNs
        got, expected = got.astype(np.float64), expected.astype(np.float64)
    top = np.ldexp(2.0 - 2.0 ** (1 - precision), largest - 1)
    above = top if dtype == "f64" else top + np.ldexp(1.0, largest - precision)
    finite_got = np.where(np.isinf(got), np.copysign(above, got), got)
    finite_expected = np.clip(expected, -above, above)
    with np.errstate(all="ignore"):
        magnitude = np.maximum(np.minimum(np.abs(finite_expected), top), scale)
        error = np.abs(finite_got - finite_expected) / spacing(magnitude, dtype)
    return np.where(
        np.isnan(got) | np.isnan(expected),
        np.where(np.isnan(got) == np.isnan(expected), 0.0, np.inf),
        error,
    )
