"""Reducers: how reductions combine elements."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.statements import Block, Let, Operand, Set, Statement

from .graph import Graph, Value
from .regions import reducer_of, region_statements
from .splats import splat
from .types import Element

IDENTITIES = {
    "add": lambda element: 0,
    "multiply": lambda element: 1,
    "maximum": lambda element: _min_value(element),
    "minimum": lambda element: _max_value(element),
    "and": lambda element: (
        True if element.kind == "bool" else -1 if element.kind == "int" else 2**element.bits - 1
    ),
    "or": lambda element: 0,
    "xor": lambda element: 0,
}


def identity_of(reducer: str, element: Element) -> object:
    """Return the identity of a reducer."""
    return IDENTITIES[reducer](element)


def _min_value(element: Element) -> object:
    if element.kind == "float":
        return -np.inf
    return (
        False
        if element.kind == "bool"
        else -(2 ** (element.bits - 1))
        if element.kind == "int"
        else 0
    )


def _max_value(element: Element) -> object:
    if element.kind == "float":
        return np.inf
    if element.kind == "bool":
        return True
    return 2 ** (element.bits - 1) - 1 if element.kind == "int" else 2**element.bits - 1


@dataclass(frozen=True)
class Reducer:
    """A reducer of one or several accumulators ``s0``, ``s1``, ..., which begin with ``identities``.

    ``starts`` are combined with the result; those that are no constants are combined by a later kernel.
    """

    region: Graph
    elements: list[Element]
    identities: list[str]
    starts: list[Value]

    def combine(self) -> list[Statement]:
        """Return the statements that combine the accumulators with other ones, ``r0``, ``r1``, ...."""
        return self._assignments([f"r{k}" for k in range(len(self.elements))], "w")

    def update(self, names: Sequence[Operand]) -> list[Statement]:
        """Return the statements that combine the accumulators with the named elements."""
        return self._assignments(names, "u")

    def finish(self) -> list[Operand]:
        """Return the results, in terms of the accumulators."""
        if not self.starts:
            return [f"s{k}" for k in range(len(self.elements))]
        return [
            self._finish(start, element)
            for start, element in zip(self.starts, self.elements, strict=True)
        ]

    def _finish(self, start: Value, element: Element) -> Operand:
        number = splat(start)
        if number is None or number == identity_of(reducer_of(self.region), element):
            return "s0"
        statements, (result,) = region_statements(self.region, ["s0", literal(number, element)])
        return statements[0].value if len(statements) == 1 else result

    def _assignments(self, right: Sequence[Operand], prefix: str) -> list[Statement]:
        left = [f"s{k}" for k in range(len(self.elements))]
        statements, results = region_statements(self.region, [*left, *right])
        match statements, results:
            case [Let(name, _, value)], [result] if name == result:
                return [Set("s0", value)]  # the form in which passes look for sums and maxima
        body: list[Statement] = list(statements)
        for k, (result, element) in enumerate(zip(results, self.elements, strict=True)):
            body.append(Let(f"{prefix}{k}", element.math, result))
        body += [Set(name, f"{prefix}{k}") for k, name in enumerate(left)]
        return [Block(body)]
