"""The elements from which an element of a fused computation is computed."""

from __future__ import annotations

from xpu_runtime.codegen.affine import Affine, Coordinates

from . import elementwise, views
from .graph import Node, Value

# Operations that can be fused, besides elementwise operations and views.
STRUCTURAL = frozenset(["constant", "iota", "pad", "concatenate", "dynamic_slice", "short_reduce"])
FUSIBLE = elementwise.OPERATIONS | views.VIEWS | STRUCTURAL

Key = tuple[Value, Coordinates]


def changes_width(node: Node) -> bool:
    """Return True for a bitcast that splits elements, or joins several."""
    return node.op == "bitcast_convert" and len(node.inputs[0].shape) != len(node.output.shape)


def operands_of(node: Node, at: Coordinates) -> list[Key] | None:
    """Return the elements from which one is computed, without those that conditions or loops read.

    None if their positions are not affine, or the operation cannot be fused.
    """
    if node.op in views.VIEWS:
        inside = views.coordinates_in(node, at)
        return None if inside is None else [(node.inputs[0], inside)]
    if node.op not in FUSIBLE:
        return None
    if changes_width(node):
        source = node.inputs[0]
        if len(source.shape) < len(at):
            return [(source, at[:-1])]
        return [(source, (*at, Affine(k))) for k in range(source.shape[-1])]
    if node.op in elementwise.OPERATIONS:
        # A scalar applies to all elements, as in select and clamp.
        return [(operand, at if operand.shape else ()) for operand in node.inputs]
    if node.op in ("dynamic_slice", "short_reduce"):
        return [(scalar, ()) for scalar in node.inputs[1:]]
    return []


def part_of(node: Node, at: Coordinates) -> Key:
    """Return the element of an operand at a constant coordinate of a concatenation."""
    dim = node.attributes["dimension"]
    place = at[dim].constant
    for part in node.inputs:
        if place < part.shape[dim]:
            return part, (*at[:dim], Affine(place), *at[dim + 1 :])
        place -= part.shape[dim]
    raise AssertionError(f"{node} has no element {at[dim].constant}")
