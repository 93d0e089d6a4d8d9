"""Find softmax in a program, and give it the form of eager mode's kernel: it has shorter loops."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Collection, Hashable, Mapping
from dataclasses import replace

from .keep_values import keys_of, written_arrays
from .program import Fold, LoopProgram, Section
from .statements import Let, Set, Statement, Term, leaves, operands, rewrite, walk

_SUM, _MAXIMUM = "{0} + {1}", "maximum({0}, {1})"
_EXP, _DIFFERENCE, _QUOTIENT, _PRODUCT = "exp({0})", "{0} - {1}", "{0} / {1}", "{0} * {1}"
_LARGER_NUMBER = "{0} < {1} ? {1} : {0}"


def simplify_softmax(program: LoopProgram) -> LoopProgram:
    """Return the program with softmax by products, and a maximum that need not look for NaN.

    The sum's reciprocal is computed once a row, instead of a quotient for each element.
    A product is off by 1.5 units in the last place at most, a quotient by half of one, and the reciprocal of
    any other divisor may be infinite, subnormal or zero although the quotient is not. The sum of exponentials
    of a row less its maximum is between 1 and the row's length, or NaN; eager mode and PyTorch multiply, too.
    Sums in f64 stay divisors.
    """
    written = written_arrays(program)
    maxima: dict[Hashable, str] = {}
    sums: dict[str, str] = {}  # and the maximum of each
    sections = []
    for section in program.sections:
        keys = keys_of(section.per_element, written)
        of_elements = rewrite(section.per_element, lambda s: _multiplied(s, sums))
        found = {
            fold.results[0]: high
            for fold in section.folds
            if (high := _subtracted_maximum(fold, keys, maxima))
        }
        for fold in section.folds:
            value = _folded(fold, _MAXIMUM)
            if value in keys:
                maxima[keys[value]] = fold.results[0]
        inverses = [Let(_inverse(name), "float", Term("1.0f / {0}", (name,))) for name in found]
        sections.append(Section(of_elements, section.folds, [*inverses, *section.per_row]))
        sums.update(found)
    if not sums:
        return program
    users = _users(sections)
    plain = {high for sum, high in sums.items() if _is_only_in_products(high, sum, users)}
    return replace(program, sections=[_without_nan(section, plain) for section in sections])


def _without_nan(section: Section, maxima: Collection[str]) -> Section:
    """Return the section with maxima that pass over NaN, which makes the sum NaN, and so each product."""
    folds = [
        replace(fold, update=[Set("s0", Term(_LARGER_NUMBER, ("s0", _folded(fold, _MAXIMUM))))])
        if fold.results[0] in maxima
        else fold
        for fold in section.folds
    ]
    return replace(section, folds=folds)


def _users(sections: Collection[Section]) -> Mapping[str, list[Statement]]:
    """Return the statements that use each name."""
    users: defaultdict[str, list[Statement]] = defaultdict(list)
    for section in sections:
        of_folds = [
            statement
            for fold in section.folds
            for statement in (*fold.update, *(Set("", value) for value in fold.finish))
        ]
        for statement in walk((*section.per_element, *section.per_row, *of_folds)):
            for operand in operands(statement):
                for leaf in leaves(operand):
                    if isinstance(leaf, str):
                        users[leaf].append(statement)
    return users


def _is_only_in_products(high: str, sum: str, users: Mapping[str, list[Statement]]) -> bool:
    """Return True if a maximum is used for the exponentials of a sum, and these for nothing but products."""

    def are(name: str, template: str) -> list[str] | None:
        """Return the names of values that are all users of a name, or None if there are others."""
        named = []
        for user in users[name]:
            if not isinstance(user, Let) or not isinstance(user.value, Term):
                return None
            if user.value.template != template:
                return None
            named.append(user.name)
        return named

    differences = are(high, _DIFFERENCE)
    for difference in differences or ():
        exponentials = are(difference, _EXP)
        if exponentials is None:
            return False
        for user in (user for name in exponentials for user in users[name]):
            match user:
                case Set("s0", Term(template, ("s0", _))) if template == _SUM:
                    continue
                case Let(_, _, Term(template, (_, factor))) if (
                    template == _PRODUCT and factor == _inverse(sum)
                ):
                    continue
            return False
    return differences is not None


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


def _subtracted_maximum(fold: Fold, keys: dict[str, Hashable], maxima: dict[Hashable, str]) -> str:
    """Return the maximum if a fold is the sum of exponentials of values less it, or an empty text."""
    match keys.get(_folded(fold, _SUM)):
        case ("float", (exp, (("float", (difference, (value, high))),))):
            if (exp, difference) == (_EXP, _DIFFERENCE) and maxima.get(value) == high:
                return str(high)
    return ""
