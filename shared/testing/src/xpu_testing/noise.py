"""Rounding errors put into a float64 evaluation: what the results then vary by is their condition.

A fuzzer evaluates its program once without and several times with noise. In each of these the values that
an operation uses, and those that it returns, are off by as much as the operation's format may lose. A sum
of large numbers that cancel varies by the last digits of its summands; a bound by element follows.
"""

from __future__ import annotations

import functools

import numpy as np

from .float_formats import FloatFormat

TRIALS = 8
_TABLE = 1 << 21


@functools.cache
def _table() -> np.ndarray:
    """Return numbers of both signs, none near zero."""
    rng = np.random.default_rng(2)
    return rng.uniform(0.5, 1, _TABLE) * rng.choice([-1.0, 1.0], _TABLE)


def clipped(values: np.ndarray, about: FloatFormat) -> np.ndarray:
    """Return values with those out of the format's range infinite, or zero, as the format has them."""
    size = np.abs(values)
    with np.errstate(all="ignore"):
        infinite = np.where(np.isfinite(size) & (size > about.largest), values * np.inf, values)
    return np.where(size < about.smallest * about.epsilon / 2, 0.0, infinite)


class Noise:
    """The errors of one evaluation. ``number`` counts the trials of a program."""

    def __init__(self, seed: int, number: int = 0) -> None:
        self._rng = np.random.default_rng([seed, number])
        self.number = number

    def rounded(
        self,
        values: np.ndarray,
        about: FloatFormat,
        error: float | None = None,
        around: np.ndarray | float = 0.0,
    ) -> np.ndarray:
        """Return float64 or complex128 values, each off by the format's step error or by ``error``.

        The error is relative to the element, or to ``around`` if that is larger.
        """
        if error == 0:
            return values
        size = np.abs(values)
        finite = np.isfinite(size)
        relative = about.step_error if error is None else error
        with np.errstate(all="ignore"):
            off = relative * np.maximum(size, around) + about.smallest
        # A zero is exact, or what its operands' noise has moved: which of 0 and 0 is larger does not change.
        off = np.where(finite & (off > about.smallest), off, 0.0)
        if values.dtype.kind == "c":
            return values + off * (self.signs(values.shape) + 1j * self.signs(values.shape))
        return values + off * self.signs(values.shape)

    def signs(self, shape: tuple[int, ...]) -> np.ndarray:
        """Return numbers in [-1, -0.5] and [0.5, 1]."""
        count = int(np.prod(shape))
        if count > _TABLE // 2:
            return np.resize(_table(), shape)
        start = int(self._rng.integers(_TABLE - count))
        return _table()[start : start + count].reshape(shape)


def trials(seed: int) -> list[Noise]:
    """Return the noise of each trial."""
    return [Noise(seed, number) for number in range(TRIALS)]
