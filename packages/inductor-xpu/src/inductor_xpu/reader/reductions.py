"""Inductor's reductions as folds of loop programs."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import torch
from torch._inductor.ir import Reduction
from xpu_runtime.codegen.elements import Element
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.program import Fold
from xpu_runtime.codegen.statements import Block, Do, Let, Operand, Set, Statement, Term

_LAST_POSITION = "(i64)0x7fffffffffffffffl"


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
) -> Fold:
    """Return the fold of a kind of reduction; ``position`` is the element's along the reduction."""
    if kind in _SIMPLE:
        return _simple(kind, names, element, dtype, values[0])
    if kind in ("argmax", "argmin"):
        return _position_of_extreme(kind, names, element, dtype, values[0], position)
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
) -> Fold:
    """Fold value and position. NaN is the extreme of all; of equal ones the first counts."""
    order = ">" if kind == "argmax" else "<"
    beats = (
        f"({{0}} {order} s0 || ({{0}} != {{0}} && s0 == s0) || "
        f"(({{0}} == s0 || ({{0}} != {{0}} && s0 != s0)) && {{1}} < s1))"
    )

    def take(value: Operand, position: Operand) -> list[Statement]:
        body: list[Statement] = [
            Let("better", "bool", Term(beats, (value, position))),
            Set("s0", Term("better ? {0} : s0", (value,))),
            Set("s1", Term("better ? {0} : s1", (position,))),
        ]
        return [Block(body)]

    start = literal(Reduction.default_accumulator(kind, dtype), element)
    return Fold(
        (f"{names[0]}_extreme", names[0]),
        (element.math, "i64"),
        (start, _LAST_POSITION),
        take(value, position),
        take("r0", "r1"),
        ("s0", "s1"),
    )


def _welford(names: Sequence[str], element: Element, values: Sequence[Operand]) -> Fold:
    """Fold mean, sum of squared differences, and weight."""
    type = element.math
    together = (
        "{{ {T} weight = s2 + {2}, share = weight == 0 ? ({T})0 : {2} / weight, d = {0} - s0; "
        "s0 += d * share; s1 += {1} + d * d * s2 * share; s2 = weight; }}"
    ).replace("{T}", type)
    one = ("{{ s2 += ({T})1; {T} d = {0} - s0; s0 += d / s2; s1 += d * ({0} - s0); }}").replace(
        "{T}", type
    )
    state = ("s0", "s1", "s2")
    update = Do(Term(one if len(values) == 1 else together, tuple(values)), state)
    combine = Do(Term(together, ("r0", "r1", "r2")), state)
    zero = f"({type})0"
    return Fold(tuple(names), (type,) * 3, (zero,) * 3, [update], [combine], state)


def _online_softmax(names: Sequence[str], element: Element, value: Operand) -> Fold:
    """Fold the maximum and the sum of exponentials relative to it."""
    type = element.math
    text = (
        "{{ {T} high = maximum(s0, {0}); "
        "s1 = (s0 == high ? s1 : s1 * exp(s0 - high)) + {1} * ({0} == high ? ({T})1 : exp({0} - high)); "
        "s0 = high; }}"
    ).replace("{T}", type)
    start = (literal(float("-inf"), element), f"({type})0")
    update = Do(Term(text, (value, f"({type})1")), ("s0", "s1"))
    combine = Do(Term(text, ("r0", "r1")), ("s0", "s1"))
    return Fold(tuple(names), (type,) * 2, start, [update], [combine], ("s0", "s1"))
