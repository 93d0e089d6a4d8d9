"""Linear operations, which apply to each summand of an array instead of to the sum."""

from __future__ import annotations

from ..graph import Node
from ..regions import reducer_of
from ..splats import splat

# Operations that add or move their first operands; the number of these.
_ADDITIVE = {
    "add": 2,
    "broadcast_in_dim": 1,
    "dynamic_slice": 1,
    "dynamic_update_slice": 2,
    "gather": 1,
    "imag": 1,
    "negate": 1,
    "real": 1,
    "reshape": 1,
    "reverse": 1,
    "slice": 1,
    "subtract": 2,
    "transpose": 1,
}
_MULTIPLICATIVE = ("multiply", "dot_general", "convolution")
_ROUNDED = ("float", "complex")


def summed_operands(node: Node, summands: list[int]) -> list[int]:
    """Return the operands that must be summands for the result to be one; none if it needs sums.

    ``summands``: the operands that are summands.
    """
    if node.op in _MULTIPLICATIVE:
        return summands if len(summands) == 1 else []
    allowed = _additive(node)
    return allowed if set(summands) <= set(allowed) else []


def _additive(node: Node) -> list[int]:
    match node.op:
        case "concatenate":
            return list(range(len(node.inputs)))
        case "select":
            return [1, 2]
        case "divide":  # the sum of rounded integer quotients differs
            return [0] if node.output.type.element.kind in _ROUNDED else []
        case "convert":
            kinds = (node.inputs[0].type.element.kind, node.output.type.element.kind)
            return [0] if all(kind in _ROUNDED for kind in kinds) else []
        case "reduce":
            zero = splat(node.inputs[-1])
            sums = len(node.inputs) == 2 and reducer_of(node.regions[0]) == "add"
            return [0] if sums and zero == 0 else []
    return list(range(_ADDITIVE.get(node.op, 0)))
