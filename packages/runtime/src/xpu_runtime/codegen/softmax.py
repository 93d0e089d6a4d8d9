"""Multiply by the reciprocal of a softmax's sum, once a row, instead of dividing each element."""

from __future__ import annotations

from collections.abc import Collection, Hashable
from dataclasses import replace

from .keep_values import keys_of, written_arrays
from .program import Fold, LoopProgram, Section
from .statements import Let, Set, Statement, Term, rewrite

_SUM, _MAXIMUM = "{0} + {1}", "maximum({0}, {1})"
_EXP, _DIFFERENCE, _QUOTIENT, _PRODUCT = "exp({0})", "{0} - {1}", "{0} / {1}", "{0} * {1}"


def multiply_by_reciprocals(program: LoopProgram) -> LoopProgram:
    """Return the program with products in place of quotients whose divisor is the sum of a softmax.

    A product is off by 1.5 units in the last place at most, a quotient by half of one, and the reciprocal of
    any other divisor may be infinite, subnormal or zero although the quotient is not. The sum of exponentials
    of a row less its maximum is between 1 and the row's length, or NaN; eager mode and PyTorch multiply, too.
    Sums in f64 stay divisors.
    """
    written = written_arrays(program)
    maxima: dict[Hashable, str] = {}
    sums: set[str] = set()
    sections = []
    for section in program.sections:
        keys = keys_of(section.per_element, written)
        of_elements = rewrite(section.per_element, lambda s: _multiplied(s, sums))
        found = [fold.results[0] for fold in section.folds if _is_softmax_sum(fold, keys, maxima)]
        for fold in section.folds:
            value = _folded(fold, _MAXIMUM)
            if value in keys:
                maxima[keys[value]] = fold.results[0]
        inverses = [Let(_inverse(name), "float", Term("1.0f / {0}", (name,))) for name in found]
        sections.append(Section(of_elements, section.folds, [*inverses, *section.per_row]))
        sums.update(found)
    return replace(program, sections=sections) if sums else program


def _inverse(sum: str) -> str:
    return f"inverse_{sum}"


def _multiplied(statement: Statement, sums: Collection[str]) -> Statement:
    match statement:
        case Let(name, "float", Term(template, (dividend, divisor))) if (
            template == _QUOTIENT and divisor in sums
        ):
            return Let(name, "float", Term(_PRODUCT, (dividend, _inverse(str(divisor)))))
    return statement


def _folded(fold: Fold, template: str) -> str:
    """Return the name of the value that a fold of f32 combines by a template, or an empty text."""
    match fold:
        case Fold(types=("float",), update=[Set("s0", Term(found, ("s0", str(value))))]) if (
            found == template and fold.finish == ("s0",)
        ):
            return value
    return ""


def _is_softmax_sum(fold: Fold, keys: dict[str, Hashable], maxima: dict[Hashable, str]) -> bool:
    """Return True if a fold is the sum of exponentials of values less their maximum."""
    match keys.get(_folded(fold, _SUM)):
        case ("float", (exp, (("float", (difference, (value, high))),))):
            return (exp, difference) == (_EXP, _DIFFERENCE) and maxima.get(value) == high
    return False
