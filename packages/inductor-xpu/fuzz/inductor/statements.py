"""Statements of random programs, and their evaluation in double precision, without and with noise."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import torch
import torch.nn.functional as F
from xpu_testing.float_formats import FORMATS, FloatFormat, format_of
from xpu_testing.fuzzing import Difference
from xpu_testing.judge import describe, element_texts, wrong_elements
from xpu_testing.noise import Noise, clipped, trials


@dataclass(frozen=True)
class Statement:
    """A line of Python. ``dtype`` is that of the numbers it rounds, None if it moves or compares numbers.

    ``sums`` says that it adds in float32 whatever the dtype is.
    """

    text: str
    dtype: torch.dtype | None = None
    sums: bool = False


def evaluate(
    statements: Iterable[Statement], scope: dict[str, Any], noise: Noise | None = None
) -> None:
    """Run statements whose floats are of double precision; ``scope`` has their names.

    With noise each use of a value and each result is off by what the dtype of the statement may lose.
    """
    scope |= {"torch": torch, "F": F}
    for statement in statements:
        text = _widened(statement.text)
        about = format_of(statement.dtype)
        if noise is None or about is None:
            exec(text, scope)
            continue
        target, names = _target(text), _names(text, scope)
        used = FORMATS["f32"] if statement.sums else about
        given = {name: scope[name] for name in names}
        if target in given:  # updated in place
            given.pop(target)
            scope[target].copy_(_noisy(scope[target], noise, about))
        scope |= {name: _noisy(value, noise, used) for name, value in given.items()}
        exec(text, scope)
        scope |= given
        if target not in names:
            inside = _size_inside(text, scope[names[0]])
            scope[target] = _noisy(scope[target], noise, about, inside)


def references(
    statements: Sequence[Statement], scope: dict[str, Any], names: Sequence[str], seed: int
) -> list[list[torch.Tensor]]:
    """Return the values of names after the statements: exact, and of each trial with noise."""
    found = []
    for noise in (None, *trials(seed)):
        own = {k: v.clone() if isinstance(v, torch.Tensor) else v for k, v in scope.items()}
        evaluate(statements, own, noise)
        found.append([own[name].clone() for name in names])
    return found


def require_right(name: str, got: torch.Tensor, finer: Sequence[torch.Tensor]) -> None:
    """Raise Difference if elements of a result are wrong; ``finer`` is the exact one, then the trials."""
    exact, *noisy = (each.double().numpy() for each in finer)
    about = format_of(got.dtype)
    assert about is not None
    own = got.double().numpy()
    wrong = wrong_elements(own, exact, noisy, about)
    if wrong.any():
        texts = element_texts(wrong, own, exact)
        raise Difference(f"{name}: {describe(wrong, texts)}", texts)


def _widened(text: str) -> str:
    """Return a statement with double precision in the place of other floats."""
    for name in ("bfloat16", "float16", "float32"):
        text = text.replace(f"torch.{name})", "torch.float64)")
    return text.replace(".float()", ".double()")


def _size_inside(text: str, operand: torch.Tensor) -> torch.Tensor | float:
    """Return the size of numbers that an operator rounds although its result may be smaller."""
    if "F.gelu(" in text:
        return operand
    # The logarithm of a sum of which one part is 1.
    return 1.0 if "log_softmax(" in text or "logsumexp(" in text else 0.0


def _target(text: str) -> str:
    """Return the name that a statement defines, or updates."""
    return re.match(r"\w+", text)[0]


def _names(text: str, scope: dict[str, Any]) -> list[str]:
    """Return the names of tensors of floats that a statement uses, in order."""
    found = dict.fromkeys(re.findall(r"(?<![\w.])[a-z]\w*", text))
    values = {name: scope.get(name) for name in found}
    return [n for n, v in values.items() if isinstance(v, torch.Tensor) and v.is_floating_point()]


def _noisy(
    value: torch.Tensor, noise: Noise, about: FloatFormat, around: torch.Tensor | float = 0.0
) -> torch.Tensor:
    """Return a copy of a value with noise, and with what is out of range infinite.

    Steps of 16 bits that are fused have the range of float32: every other trial has that of the dtype.
    """
    if isinstance(around, torch.Tensor):
        around = around.abs().numpy()
    values = noise.rounded(value.numpy(), about, around=around)
    for limit in (FORMATS["f32"], about)[: 1 + noise.number % 2]:
        values = clipped(values, limit)
    return torch.from_numpy(np.asarray(values))
