"""Whether results of floats are right, element by element, beside a float64 reference of the same program."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np

from .float_formats import FloatFormat

# How many last digits a result may be off, and how many times its condition: the root mean square of what
# evaluations with rounding errors (noise.py) differ by.
ULPS = 4.0
SPREAD = 12.0

_FINITE, _LARGE, _INFINITE, _NONE = range(4)


def wrong_elements(
    got: np.ndarray,
    exact: np.ndarray,
    trials: Sequence[np.ndarray],
    about: FloatFormat,
    ulps: float = ULPS,
    around: float = 0.0,
    more: np.ndarray | float = 0.0,
) -> np.ndarray:
    """Return where ``got`` is wrong. All arrays are of float64 or complex128; ``got`` was of the format.

    ``ulps`` are measured at the element, or at ``around`` if that is larger; ``more`` is allowed beside.
    NaN and infinity must be where they are in the reference. Where its trials do not agree on that,
    rounding decides, and a finite result is compared with the range of the finite ones, if most are. A
    result beyond the format's range may be infinite or among the largest numbers. Of a complex number
    with a part that is not finite only that is compared: algorithms differ in the other part.
    """
    with np.errstate(all="ignore"):
        expected = _kinds(exact, about.largest * (1 - 1 / 32))
        unsure = np.zeros(exact.shape, bool)
        deviation, finite = np.zeros(exact.shape), np.zeros(exact.shape, int)
        low, high = np.full(exact.shape, np.inf), np.full(exact.shape, -np.inf)
        for each in (exact, *trials):
            kinds = _kinds(each, about.largest * (1 - 1 / 32))
            unsure |= kinds != expected
            finite += kinds == _FINITE
            deviation += np.where(np.isfinite(each), np.abs(each - exact), 0.0) ** 2
            if exact.dtype.kind != "c":
                low = np.fmin(low, np.where(np.isfinite(each), each, np.inf))
                high = np.fmax(high, np.where(np.isfinite(each), each, -np.inf))
        spread = np.sqrt(deviation / max(len(trials), 1))
        last = about.epsilon * np.maximum(np.abs(exact), around) + about.smallest
        allowed = SPREAD * spread + ulps * last + more
        far = ~(np.abs(got - exact) <= allowed)
        kinds = _kinds(got, about.largest * (1 - 1 / 16))
        large = np.abs(expected) == _LARGE
        overflowed = large & (kinds != expected) & (kinds != expected * _INFINITE // _LARGE)
        other = ~large & (kinds != expected) & ((expected != _FINITE) | ~np.isfinite(got))
        wrong = ~unsure & ((far & (expected == _FINITE)) | overflowed | other)
        if exact.dtype.kind != "c":
            wide = (
                SPREAD * (high - low) + ulps * about.epsilon * np.abs(got) + about.smallest + more
            )
            outside = ~((got >= low - wide) & (got <= high + wide))
            most = finite > (len(trials) + 1) / 2
            wrong |= unsure & most & np.isfinite(got) & outside
        return wrong


def _kinds(values: np.ndarray, large: float) -> np.ndarray:
    """Return the kind of each: finite, large, infinite (both with its sign), or none."""
    if values.dtype.kind == "c":
        size = np.maximum(np.abs(values.real), np.abs(values.imag))
        return np.where(np.isfinite(values) & (size < large), _FINITE, _INFINITE)
    size = np.abs(values)
    kinds = np.where(size < large, _FINITE, np.where(np.isfinite(values), _LARGE, _INFINITE))
    return np.where(np.isnan(values), _NONE, np.where(values < 0, -kinds, kinds))


def element_texts(wrong: np.ndarray, got: Any, expected: Any) -> list[str]:
    """Return what each wrong element of an array, or a tensor, is and what it should be."""
    places = map(tuple, np.argwhere(wrong))
    return [f"{got[at].item()!r}, expected {expected[at].item()!r}" for at in places]


def describe(wrong: np.ndarray, texts: Sequence[str]) -> str:
    """Return how many elements are wrong, and the text and the place of the first."""
    first = np.argwhere(wrong)[0].tolist()
    return f"{np.count_nonzero(wrong)} of {wrong.size} differ, first at {first}: {texts[0]}"
