"""Expressions of operators on one tensor, which are found again in a graph of decomposed operators."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import permutations
from typing import Any

from torch.fx import Node

Numbers = Mapping[str, float]
_COMMUTATIVE = ("mul.Tensor", "add.Tensor")


class _Input:
    """The tensor that an expression is of."""


@dataclass(frozen=True)
class Number:
    """A number that the graph chooses; its name tells which."""

    name: str


@dataclass(frozen=True)
class Call:
    """A call of ``aten.<operator>`` with tensors, numbers and other expressions."""

    operator: str
    operands: tuple[Any, ...]


INPUT = _Input()


def call(operator: str, *operands: Any) -> Call:
    """Return the expression ``aten.<operator>(*operands)``."""
    return Call(operator, operands)


def match(expression: Call, end: Node, source: Node) -> Numbers | None:
    """Return the numbers of the expression if ``end`` computes it of ``source`` and nobody reads a part.

    ``source`` itself, too, may have no other readers: fused, it does not exist.
    """
    for numbers, nodes in _matches(expression, end, source, {}, frozenset()):
        inner = {source, *nodes} - {end}
        if all(user in nodes for node in inner for user in node.users):
            return numbers
    return None


def _matches(
    expression: Any, value: Any, source: Node, numbers: Numbers, nodes: frozenset[Node]
) -> Iterator[tuple[Numbers, frozenset[Node]]]:
    """Yield each way in which a value is the expression, with its numbers and nodes."""
    if expression is INPUT:
        if value is source:
            yield numbers, nodes
    elif isinstance(expression, Number):
        if isinstance(value, (int, float)) and numbers.get(expression.name, value) == value:
            yield {**numbers, expression.name: value}, nodes
    elif isinstance(expression, Call):
        if not isinstance(value, Node) or value.kwargs or _name(value) != expression.operator:
            return
        for order in _orders(expression.operator, value.args):
            yield from _operands_match(expression.operands, order, source, numbers, nodes | {value})
    elif isinstance(value, (int, float)) and value == expression:
        yield numbers, nodes


def _operands_match(
    expressions: tuple[Any, ...],
    values: tuple[Any, ...],
    source: Node,
    numbers: Numbers,
    nodes: frozenset[Node],
) -> Iterator[tuple[Numbers, frozenset[Node]]]:
    if len(expressions) != len(values):
        return
    if not expressions:
        yield numbers, nodes
        return
    for found in _matches(expressions[0], values[0], source, numbers, nodes):
        yield from _operands_match(expressions[1:], values[1:], source, *found)


def _orders(operator: str, values: tuple[Any, ...]) -> Iterator[tuple[Any, ...]]:
    if operator in _COMMUTATIVE:
        yield from permutations(values)
    else:
        yield values


def _name(node: Node) -> str:
    text = str(node.target)
    return text.removeprefix("aten.") if text.startswith("aten.") else ""
