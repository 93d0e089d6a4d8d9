"""Compares an expression's results with its functions one by one in double precision.

The evaluation is repeated with errors in what each function is given and gives. They are as large as the
functions' own bounds, and a use of a value errs apart from its other uses, as where a compiler makes one
operation of a product and a sum.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from library import DTYPES
from xpu_testing import noise
from xpu_testing.float_formats import format_of
from xpu_testing.fuzzing import Difference, check
from xpu_testing.judge import describe, element_texts, wrong_elements

if TYPE_CHECKING:
    from expression import Expression


def compare(expression: Expression, inputs: Sequence[np.ndarray], got: list[np.ndarray]) -> None:
    """Raise Difference if an element of a result is wrong."""
    about = format_of(expression.dtype)
    with np.errstate(all="ignore"):
        wide = [_widened(values) for values in inputs]
        exact = _evaluated(expression, wide, None, double=True)
        trials = [
            _evaluated(expression, wide, n, double=True) for n in noise.trials(expression.seed)
        ]
        # A function may leave the range of single precision inside, as a power of ten of round_decimals.
        trials.append([_widened(each) for each in _evaluated(expression, inputs, None)])

    def judge(results: list[np.ndarray]) -> None:
        for place, result in enumerate(expression.results):
            own = _widened(results[place])
            wrong = wrong_elements(own, exact[place], [t[place] for t in trials], about)
            if wrong.any():
                at = tuple(np.argwhere(wrong)[0])
                given = ", ".join(f"a{k} = {values[at]!r}" for k, values in enumerate(inputs))
                text = describe(wrong, element_texts(wrong, own, exact[place]))
                raise Difference(f"{expression.names()[result]}: {text}, of {given}")

    check(got, judge, [expression.dtype] * len(got))


def _evaluated(
    expression: Expression,
    inputs: Sequence[np.ndarray],
    errors: noise.Noise | None,
    double: bool = False,
) -> list[np.ndarray]:
    """Return the results, with errors or without, in the dtype's own precision or in double."""
    import kernels

    dtype = expression.dtype
    if double:
        dtype = "c128" if dtype.startswith("c") else "f64"
    computed, place = format_of(DTYPES[expression.dtype].wide), DTYPES[expression.dtype].place
    values = list(inputs)

    def used(k: int) -> np.ndarray:
        if errors is None or k < expression.inputs:
            return values[k]
        function = expression.nodes[k - expression.inputs].function
        return errors.rounded(values[k], computed, function.error * place, function.scale)

    for node in expression.nodes:
        given = [used(k) for k in node.arguments]
        values.append(noise.clipped(kernels.alone(node.function, dtype, given), computed))
    return [used(k) for k in expression.results]


def _widened(values: np.ndarray) -> np.ndarray:
    return values.astype(np.complex128 if values.dtype.kind == "c" else np.float64)
