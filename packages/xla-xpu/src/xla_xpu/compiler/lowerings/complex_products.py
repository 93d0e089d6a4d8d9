"""Bilinear operations of complex numbers, by those of real and imaginary parts."""

from __future__ import annotations

from collections.abc import Callable

from ..graph import Node, Value
from ..lower import Lowerer
from ..types import ELEMENTS, Element, Type

Lower = Callable[[Lowerer, Node], None]


def of_parts(lowerer: Lowerer, node: Node, lower: Lower) -> None:
    """Lower an operation that is linear in both operands with ``lower``, which lowers real ones."""
    part = part_of(node.output.type.element)
    left, right = (_parts(value, part) for value in node.inputs)

    def product(a: Value | None, b: Value | None) -> Value | None:
        if a is None or b is None:
            return None
        real = Node(node.op, [a, b], [Type(part, node.output.shape)], node.attributes)
        lower(lowerer, real)
        return real.output

    real = _sum("subtract", product(left[0], right[0]), product(left[1], right[1]))
    imaginary = _sum("add", product(left[0], right[1]), product(left[1], right[0]))
    whole = Node("complex", [real, imaginary], [node.output.type]).output
    lowerer.views[node.output] = lowerer.materialize(whole)


def part_of(element: Element) -> Element:
    """Return the type of a complex number's parts."""
    return ELEMENTS["f32" if element.size == 8 else "f64"]


def _parts(value: Value, part: Element) -> list[Value | None]:
    element = value.type.element
    if element.kind != "complex":
        return [_as(value, part), None]
    own = Type(part_of(element), value.shape)
    return [_as(Node(name, [value], [own]).output, part) for name in ("real", "imag")]


def _as(value: Value, element: Element) -> Value:
    if value.type.element == element:
        return value
    return Node("convert", [value], [Type(element, value.shape)]).output


def _sum(op: str, a: Value | None, b: Value | None) -> Value:
    assert a is not None or b is not None
    if a is None or b is None:
        return a or b  # type: ignore[return-value]
    return Node(op, [a, b], [a.type]).output
