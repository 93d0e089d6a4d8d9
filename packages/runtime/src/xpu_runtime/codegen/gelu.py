"""Use the device library's gelu where a program computes it from other functions."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from math import frexp, ldexp, pi, sqrt

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


class _Factors:
    """The literals of gelu's factors: of f32, or of any of these significant bits.

    erf's argument is x times the root of 1/2; tanh's is (x + 0.044715 x^3) times the root of 2/pi.
    """

    def __init__(self, *bits: int) -> None:
        self.of_erf, self.minus_of_erf, self.of_tanh, self.of_cube = (
            frozenset(_number(_rounded(value, count)) for count in bits)
            for value in (sqrt(0.5), -sqrt(0.5), sqrt(2 / pi), 0.044715)
        )


def _rounded(value: float, bits: int) -> float:
    fraction, exponent = frexp(value)
    return ldexp(round(ldexp(fraction, bits)), exponent - bits)


_EXACT = _Factors(24)
# JAX rounds the factors to the type of the results, f16 or bf16.
_OF_NARROW = _Factors(24, 11, 8)


def use_gelu(program: LoopProgram) -> LoopProgram:
    """Return the program with the function in place of its definitions in f32.

    ``r = sqrt(1/2)``; factors and summands stand in any order:

    - ``0.5 * x * (1 + erf(x * r))``, PyTorch's;
    - ``0.5 * x * erfc(-x * r)``, JAX's;
    - ``0.5 * x * (1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3)))``, the approximation.

    The function is faster, and more accurate for negative numbers. If all results are f16 or bf16, the first
    two have 14 bits, as in eager mode, and the factors may have the bits of these types.
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
    factors = _OF_NARROW if short else _EXACT
    for half, x, weight in _triples(name, values):
        if _value(half, values) != _HALF:
            continue
        x = _value(x, values)
        if not isinstance(x, str):
            continue
        if _is_weight_by_erf(weight, x, factors, values):
            return Term("short_gelu({0})" if short else "gelu({0})", (x,))
        if _is_weight_by_tanh(weight, x, factors, values):
            return Term("gelu_tanh({0})", (x,))
    return None


def _triples(operand: Operand, values: Values) -> Iterator[tuple[Operand, Operand, Operand]]:
    """Yield three factors of a product in each order; none if it is no product of three."""
    for a, rest in _both_orders(operand, _PRODUCT, values):
        for b, c in _both_orders(rest, _PRODUCT, values):
            yield from ((a, b, c), (b, a, c), (b, c, a))


def _is_weight_by_erf(weight: Operand, x: Operand, factors: _Factors, values: Values) -> bool:
    """Return True for ``1 + erf(x * r)`` and ``erfc(-x * r)``."""
    complement = _term(weight, values)
    if complement.template == _ERFC:
        return _is_negative_of_scaled(complement.args[0], x, factors, values)
    return any(
        _value(one, values) == _ONE and _is_product(erf.args[0], x, factors.of_erf, values)
        for erf, one in _calls_and_ones(weight, _ERF, values)
    )


def _is_negative_of_scaled(operand: Operand, x: Operand, factors: _Factors, values: Values) -> bool:
    """Return True for ``-(x * r)``, ``(-x) * r`` and ``x * -r``."""
    value = _term(operand, values)
    if value.template == _NEGATIVE:
        return _is_product(value.args[0], x, factors.of_erf, values)
    if _is_product(operand, x, factors.minus_of_erf, values):
        return True
    return any(
        _value(scale, values) in factors.of_erf and _is_negative(minus, x, values)
        for minus, scale in _both_orders(operand, _PRODUCT, values)
    )


def _is_negative(operand: Operand, x: Operand, values: Values) -> bool:
    value = _term(operand, values)
    return value.template == _NEGATIVE and _value(value.args[0], values) == x


def _is_weight_by_tanh(weight: Operand, x: Operand, factors: _Factors, values: Values) -> bool:
    """Return True for ``1 + tanh(sqrt(2/pi) * (x + 0.044715 * x**3))``."""
    return any(
        _value(one, values) == _ONE and _is_argument_of_tanh(tanh.args[0], x, factors, values)
        for tanh, one in _calls_and_ones(weight, _TANH, values)
    )


def _is_argument_of_tanh(operand: Operand, x: Operand, factors: _Factors, values: Values) -> bool:
    return any(
        _value(scale, values) in factors.of_tanh
        and _value(first, values) == x
        and _is_cube(third, x, factors, values)
        for scale, total in _both_orders(operand, _PRODUCT, values)
        for first, third in _both_orders(total, _SUM, values)
    )


def _is_cube(operand: Operand, x: Operand, factors: _Factors, values: Values) -> bool:
    """Return True for ``0.044715 * x**3``."""
    leaves = list(_leaves(operand, x, values))
    return leaves.count(x) == 3 and len(leaves) == 4 and not factors.of_cube.isdisjoint(leaves)


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


def _is_product(operand: Operand, x: Operand, scales: frozenset[Operand], values: Values) -> bool:
    return any(
        _value(a, values) == x and _value(b, values) in scales
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
