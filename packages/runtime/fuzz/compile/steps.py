"""What an expression may give: its functions one by one, and again with errors in all they are given.

The errors are as large as the functions' own bounds, and a use of a value errs apart from its other uses, as
where a compiler makes one operation of a product and a sum. What the results then differ by is what a kernel
may differ by; a number that only by such errors is infinite, or no number, says nothing.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from library import DTYPES
from xpu_testing.fuzzing import Difference

if TYPE_CHECKING:
    from expression import Expression

TRIALS = 8
# Elements that a step of a function may hit although no trial did.
UNLUCKY = 0.01


def compare(expression: Expression, inputs: Sequence[np.ndarray], got: list[np.ndarray]) -> None:
    """Raises Difference."""
    with np.errstate(all="ignore"):
        exact = _evaluated(expression, inputs, None)
        rng = np.random.default_rng(expression.seed)
        trials = [_evaluated(expression, inputs, rng) for _ in range(TRIALS)]
        for place, result in enumerate(expression.results):
            wrong = _wrong(expression, exact[place], [trial[place] for trial in trials], got[place])
            if np.count_nonzero(wrong) > UNLUCKY * wrong.size:
                raise Difference(_said(expression, result, exact[place], got[place], wrong, inputs))


def _evaluated(
    expression: Expression, inputs: Sequence[np.ndarray], rng: np.random.Generator | None
) -> list[np.ndarray]:
    import kernels

    values = list(inputs)
    errors = [(0.0, 0.0)] * len(inputs)
    for node in expression.nodes:
        given = [values[k] for k in node.arguments]
        if rng is not None:
            given = [_erring(values[k], expression.dtype, errors[k], rng) for k in node.arguments]
        values.append(kernels.alone(node.function, expression.dtype, given))
        errors.append((node.function.error, node.function.scale))
    if rng is None:
        return [values[k] for k in expression.results]
    return [_erring(values[k], expression.dtype, errors[k], rng) for k in expression.results]


def _erring(
    values: np.ndarray, dtype: str, error: tuple[float, float], rng: np.random.Generator
) -> np.ndarray:
    """Each of them wrong by up to the error twice, in last places of what the kernel computes with."""
    places, scale = error
    if places == 0:
        return values
    about = DTYPES[dtype]
    largest = 2 * places * about.place * np.maximum(np.abs(values), scale) + 4 * about.smallest
    off = rng.uniform(-1, 1, values.shape) * largest
    if values.dtype.kind == "c":
        off = off + 1j * rng.uniform(-1, 1, values.shape) * largest
    erring = values + np.where(np.isfinite(values), off, 0).astype(values.dtype)
    return erring.astype(values.dtype)


def _widened(values: np.ndarray) -> np.ndarray:
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)


def _wrong(
    expression: Expression, exact: np.ndarray, trials: list[np.ndarray], got: np.ndarray
) -> np.ndarray:
    about = DTYPES[expression.dtype]
    exact, got = _widened(exact), _widened(got)
    trials = [_widened(trial) for trial in trials]
    largest = about.largest * (1 - 8 * about.stored)
    sure = np.all([_kind(trial, largest) == _kind(exact, largest) for trial in trials], axis=0)
    sure &= _kind(exact, largest) != _NEAR
    finite = _kind(exact, largest) == _FINITE
    spread = np.max([np.abs(trial - exact) for trial in trials], axis=0)
    allowed = 6 * spread + 4 * about.stored * np.abs(exact) + 4 * about.smallest_stored
    far = finite & ~(np.abs(got - exact) <= allowed)
    return sure & (far | (_kind(got, about.largest) != _kind(exact, about.largest)))


_FINITE, _NEAR, _INFINITE, _NONE = range(4)


def _kind(values: np.ndarray, largest: float) -> np.ndarray:
    """Of complex numbers the infinite and those that are none are one kind: their parts have no rules."""
    size = np.maximum(np.abs(values.real), np.abs(values.imag))
    if values.dtype.kind == "c":
        return np.where(np.isfinite(values) & (size < largest), _FINITE, _INFINITE)
    kinds = np.where(size < largest, _FINITE, np.where(np.isfinite(values), _NEAR, _INFINITE))
    kinds = np.where(np.isnan(values), _NONE, kinds)
    return np.where(kinds == _INFINITE, kinds * np.sign(values), kinds)


def _said(
    expression: Expression,
    result: int,
    exact: np.ndarray,
    got: np.ndarray,
    wrong: np.ndarray,
    inputs: Sequence[np.ndarray],
) -> str:
    where = tuple(np.argwhere(wrong)[0])
    given = ", ".join(f"a{k} = {values[where]!r}" for k, values in enumerate(inputs))
    return (
        f"{expression.names()[result]}: {np.count_nonzero(wrong)} of {wrong.size} elements differ; "
        f"at {given} together {got[where]!r}, one by one {exact[where]!r}"
    )
