"""Inductor's reductions as folds of loop programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch._inductor.ir import Reduction
from xpu_runtime.codegen.elements import Element
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.program import Fold
from xpu_runtime.codegen.statements import Block, Let, Operand, Set, Statement, Term

# That of an accumulator that no element has beaten. It is behind all others.
_NO_POSITION = "(i64)0x7fffffffffffffffl"


@dataclass(frozen=True)
class _Combination:
    """A template that combines an accumulator {0} with a value {1}, in place of both."""

    template: str
    of_bools: str = ""


_SIMPLE = {
    "sum": _Combination("{0} + {1}", "({0} || {1})"),
    "prod": _Combination("{0} * {1}", "({0} && {1})"),
    "max": _Combination("maximum({0}, {1})", "({0} || {1})"),
    "min": _Combination("minimum({0}, {1})", "({0} && {1})"),
    "any": _Combination("({0} || {1})", "({0} || {1})"),
    "xor_sum": _Combination("{0} ^ {1}", "({0} != {1})"),
}


def fold(
    kind: str,
    names: Sequence[str],
    element: Element,
    dtype: torch.dtype,
    values: Sequence[Operand],
    position: Operand,
    is_in_order: bool,
) -> Fold:
    """Return the fold of a kind of reduction; ``position`` is the element's along the reduction.

    ``is_in_order`` is True if a lane meets positions in their order.
    """
    if kind in _SIMPLE:
        return _simple(kind, names, element, dtype, values[0])
    if kind in ("argmax", "argmin"):
        return _position_of_extreme(kind, names, element, dtype, values[0], position, is_in_order)
    if kind in ("welford_reduce", "welford_combine"):
        return _welford(names, element, values)
    if kind == "online_softmax_reduce":
        return _online_softmax(names, element, values[0])
    raise NotImplementedError(f"reduction {kind}")


def _simple(
    kind: str, names: Sequence[str], element: Element, dtype: torch.dtype, value: Operand
) -> Fold:
    template = _SIMPLE[kind].of_bools if element.kind == "bool" else _SIMPLE[kind].template
    if element.kind in ("int", "uint") and kind in ("sum", "prod"):
        unsigned = f"u{8 * element.size}"
        operator = "+" if kind == "sum" else "*"
        template = f"({element.math})(({unsigned}){{0}} {operator} ({unsigned}){{1}})"
    start = literal(Reduction.default_accumulator(kind, dtype), element)
    return Fold(
        (names[0],),
        (element.math,),
        (start,),
        [Set("s0", Term(template, ("s0", value)))],
        [Set("s0", Term(template, ("s0", "r0")))],
        ("s0",),
    )


def _position_of_extreme(
    kind: str,
    names: Sequence[str],
    element: Element,
    dtype: torch.dtype,
    value: Operand,
    position: Operand,
    is_in_order: bool,
) -> Fold:
    """Fold value and position. NaN is the extreme of all; of equal ones the first counts.

    If a lane meets positions in their order, an equal element does not win. Where none has won, all are equal
    to the first accumulator.
    """
    order = ">" if kind == "argmax" else "<"
    beats = f"{{0}} {order} {{2}} || ({{0}} != {{0}} && {{2}} == {{2}})"
    is_earlier = "({0} == {2} || ({0} != {0} && {2} != {2})) && {1} < {3}"

    def take(value: Operand, position: Operand, in_order: bool) -> list[Statement]:
        wins = beats if in_order else f"{beats} || ({is_earlier})"
        body: list[Statement] = [
            Let("better", "bool", Term(wins, (value, position, "s0", "s1"))),
            Set("s0", Term("{0} ? {1} : {2}", ("better", value, "s0"))),
            Set("s1", Term("{0} ? {1} : {2}", ("better", position, "s1"))),
        ]
        return [Block(body)]

    start = literal(Reduction.default_accumulator(kind, dtype), element)
    return Fold(
        (f"{names[0]}_extreme", names[0]),
        (element.math, "i64"),
        (start, _NO_POSITION),
        take(value, position, in_order=is_in_order),
        take("r0", "r1", in_order=False),
        ("s0", Term(f"{{0}} == {_NO_POSITION} ? 0 : {{0}}", ("s1",))),
    )


def _welford(names: Sequence[str], element: Element, values: Sequence[Operand]) -> Fold:
    """Fold mean, sum of squared differences, and weight."""
    type = element.math
    zero, one = f"({type})0", f"({type})1"

    def add(value: Operand) -> list[Statement]:
        body: list[Statement] = [
            Set("s2", Term("{0} + {1}", ("s2", one))),
            Let("change", type, Term("{0} - {1}", (value, "s0"))),
            Set("s0", Term("{0} + {1} / {2}", ("s0", "change", "s2"))),
            Set("s1", Term("{0} + {1} * ({2} - {3})", ("s1", "change", value, "s0"))),
        ]
        return [Block(body)]

    def combine(mean: Operand, squares: Operand, weight: Operand) -> list[Statement]:
        share = Term("{0} == 0 ? {1} : {2} / {0}", ("weight", zero, weight))
        between = Term("{0} * {0} * {1} * {2}", ("change", "s2", "share"))
        body: list[Statement] = [
            Let("weight", type, Term("{0} + {1}", ("s2", weight))),
            Let("share", type, share),
            Let("change", type, Term("{0} - {1}", (mean, "s0"))),
            Set("s0", Term("{0} + {1} * {2}", ("s0", "change", "share"))),
            Set("s1", Term("{0} + ({1} + {2})", ("s1", squares, between))),
            Set("s2", "weight"),
        ]
        return [Block(body)]

    update = add(*values) if len(values) == 1 else combine(*values)
    state = ("s0", "s1", "s2")
    return Fold(tuple(names), (type,) * 3, (zero,) * 3, update, combine("r0", "r1", "r2"), state)


def _online_softmax(names: Sequence[str], element: Element, value: Operand) -> Fold:
    """Fold the maximum and the sum of exponentials relative to it."""
    type = element.math
    zero, one = f"({type})0", f"({type})1"

    def add(maximum: Operand, sum: Operand) -> list[Statement]:
        own = Term("({0} == {1} ? {2} : {2} * exp({0} - {1}))", ("s0", "high", "s1"))
        factor = Term("({0} == {1} ? {2} : exp({0} - {1}))", (maximum, "high", one))
        body: list[Statement] = [
            Let("high", type, Term("maximum({0}, {1})", ("s0", maximum))),
            Set("s1", Term("{0} + {1} * {2}", (own, sum, factor))),
            Set("s0", "high"),
        ]
        return [Block(body)]

    start = (literal(float("-inf"), element), zero)
    return Fold(tuple(names), (type,) * 2, start, add(value, one), add("r0", "r1"), ("s0", "s1"))
