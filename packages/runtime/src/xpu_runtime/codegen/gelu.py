"""Use the device library's gelu where a program computes it from other functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import pi, sqrt

from .elements import ELEMENTS
from .literals import literal
from .program import LoopProgram
from .statements import Let, Operand, Statement, Store, Term, rewrite, walk

_NARROW = ("f16", "bf16")
_SUM, _PRODUCT, _NEGATIVE = "{0} + {1}", "{0} * {1}", "-{0}"
_ERF, _ERFC, _TANH = "erf({0})", "erfc({0})", "tanh({0})"

Values = Mapping[str, Operand]


def _number(value: float) -> str:
    return literal(value, ELEMENTS["f32"])


_HALF, _ONE = _number(0.5), _number(1.0)
# erf's argument is x times the root of 1/2; tanh's is (x + 0.044715 x^3) times the root of 2/pi.
_OF_ERF, _MINUS_OF_ERF, _OF_TANH, _OF_CUBE = map(
    _number, (sqrt(0.5), -sqrt(0.5), sqrt(2 / pi), 0.044715)
)


def use_gelu(program: LoopProgram) -> LoopProgram:
    """Return the program with the function in place of its definitions in f32.

    ``r = sqrt(1/2)``; factors and summands stand in any order:

    - ``0.5 * x * (1 + erf(x * r))``, PyTorch's;
    - ``0.5 * x * erfc(-x * r)``, JAX's;
    - ``0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3)))``, the approximation.

    The function is faster, and more accurate for negative numbers. If all results are f16 or bf16, the first
    two have 14 bits, as in eager mode.
    """
    if not _may_have_gelu(program):
        return program
    short = _has_narrow_results(program)
    sections, found = [], False
    for section in program.sections:
        values = {
            s.name: s.value
            for s in walk(section.per_element)
            if isinstance(s, Let) and s.type == "float"
        }
        calls = {
            name: call
            for name, value in values.items()
            if isinstance(value, Term) and (call := _gelu(name, values, short))
        }
        found = found or bool(calls)

        def changed(s: Statement, calls: Mapping[str, Term] = calls) -> Statement:
            return Let(s.name, s.type, calls[s.name]) if type(s) is Let and s.name in calls else s

        sections.append(replace(section, per_element=rewrite(section.per_element, changed)))
    if not found:
        return program
    return replace(program, sections=sections, headers=(*program.headers, "gelu"))


def _may_have_gelu(program: LoopProgram) -> bool:
    return any(
        type(s) is Let and _calls_weight(s.value)
        for section in program.sections
        for s in walk(section.per_element)
    )


def _calls_weight(operand: Operand) -> bool:
    if not isinstance(operand, Term):
        return False
    return operand.template in (_ERF, _ERFC, _TANH) or any(map(_calls_weight, operand.args))


def _has_narrow_results(program: LoopProgram) -> bool:
    """Return True if 14 bits are enough: a sum over elements could need more."""
    stores = [s for section in program.sections for s in walk(section.per_element)]
    return not any(section.folds for section in program.sections) and all(
        program.arrays[s.array].element.name in _NARROW for s in stores if isinstance(s, Store)
    )


def _gelu(name: str, values: Values, short: bool) -> Term | None:
    """Return the call of gelu that a name is, or None."""
    for half, x, weight in _factors(name, values):
        if _value(half, values) != _HALF:
            continue
        x = _value(x, values)
        if not isinstance(x, str):
            continue
        if _is_weight_by_erf(weight, x, values):
            return Term("short_gelu({0})" if short else "gelu({0})", (x,))
        if _is_weight_by_tanh(weight, x, values):
            return Term("gelu_tanh({0})", (x,))
    return None


def _factors(operand: Operand, values: Values) -> Iterator[tuple[Operand, Operand, Operand]]:
    """Yield three factors of a product in each order; none if it is no product of three."""
    for a, rest in _both_orders(operand, _PRODUCT, values):
        for b, c in _both_orders(rest, _PRODUCT, values):
            yield from ((a, b, c), (b, a, c), (b, c, a))


def _is_weight_by_erf(weight: Operand, x: Operand, values: Values) -> bool:
    """Return True for ``1 + erf(x * r)`` and ``erfc(-x * r)``."""
    complement = _term(weight, values)
    if complement.template == _ERFC:
        return _is_negative_of_scaled(complement.args[0], x, values)
    return any(
        _value(one, values) == _ONE and _is_product(erf.args[0], x, _OF_ERF, values)
        for erf, one in _calls_and_ones(weight, _ERF, values)
    )


def _is_negative_of_scaled(operand: Operand, x: Operand, values: Values) -> bool:
    """Return True for ``-(x * r)``, ``(-x) * r`` and ``x * -r``."""
    value = _term(operand, values)
    if value.template == _NEGATIVE:
        return _is_product(value.args[0], x, _OF_ERF, values)
    if _is_product(operand, x, _MINUS_OF_ERF, values):
        return True
    return any(
        _value(scale, values) == _OF_ERF and _is_negative(minus, x, values)
        for minus, scale in _both_orders(operand, _PRODUCT, values)
    )


def _is_negative(operand: Operand, x: Operand, values: Values) -> bool:
    value = _term(operand, values)
    return value.template == _NEGATIVE and _value(value.args[0], values) == x


def _is_weight_by_tanh(weight: Operand, x: Operand, values: Values) -> bool:
    """Return True for ``1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))``."""
    return any(
        _value(one, values) == _ONE and _is_argument_of_tanh(tanh.args[0], x, values)
        for tanh, one in _calls_and_ones(weight, _TANH, values)
    )


def _is_argument_of_tanh(operand: Operand, x: Operand, values: Values) -> bool:
    return any(
        _value(scale, values) == _OF_TANH
        and _value(first, values) == x
        and sorted(map(str, _leaves(third, x, values))) == sorted(map(str, (_OF_CUBE, x, x, x)))
        for scale, total in _both_orders(operand, _PRODUCT, values)
        for first, third in _both_orders(total, _SUM, values)
    )


def _leaves(operand: Operand, x: Operand, values: Values) -> Iterator[Operand]:
    """Yield the factors of a product of products, of which x is one."""
    value = _term(operand, values)
    if _value(operand, values) != x and value.template == _PRODUCT:
        for argument in value.args:
            yield from _leaves(argument, x, values)
    else:
        yield _value(operand, values)


def _calls_and_ones(
    operand: Operand, template: str, values: Values
) -> Iterator[tuple[Term, Operand]]:
    """Yield the call and the other summand if an operand is the sum of a function's call and another."""
    for a, b in _both_orders(operand, _SUM, values):
        call = _term(a, values)
        if call.template == template:
            yield call, b


def _is_product(operand: Operand, x: Operand, scale: str, values: Values) -> bool:
    return any(
        _value(a, values) == x and _value(b, values) == scale
        for a, b in _both_orders(operand, _PRODUCT, values)
    )


def _both_orders(
    operand: Operand, template: str, values: Values
) -> Iterator[tuple[Operand, Operand]]:
    """Yield the arguments of a sum or a product in both orders; none if it is none."""
    value = _term(operand, values)
    if value.template == template:
        a, b = value.args
        yield a, b
        yield b, a


def _term(operand: Operand, values: Values) -> Term:
    """Return the term that an operand is or names, or an empty one."""
    value = _value(operand, values)
    named = values.get(value) if isinstance(value, str) else value
    return named if isinstance(named, Term) else Term("")


def _value(operand: Operand, values: Values) -> Operand:
    """Return the literal that an operand names, or the first name of the value that it copies."""
    while isinstance(operand, str) and isinstance(values.get(operand), str):
        operand = values[operand]
    return operand
