"""Decide which values get memory; the others are computed in the kernels that use them."""

from __future__ import annotations

from collections.abc import Callable, Hashable

from . import elementwise, views
from .graph import Graph, Node, Value
from .operands import FUSIBLE
from .splats import is_splat

# Operations cheap enough to recompute for every element of a broadcast.
_CHEAP = frozenset(
    ["add", "subtract", "multiply", "negate", "compare", "select", "convert", "and", "or", "not"]
)


def stored_values(graph: Graph, absorbs: Callable[[Node], bool]) -> set[Value]:
    """Return the values with several users that are computed once and stored.

    ``absorbs`` returns True for nodes whose lowering computes their inputs itself.
    """
    # The kernels that would compute each value.
    consumers: dict[Value, set[Hashable]] = {}

    def use(value: Value, consumer: Hashable) -> None:
        consumers.setdefault(value, set()).add(consumer)

    stored: set[Value] = set()
    for value in graph.results:
        use(value, value)
    for node in reversed(graph.nodes):
        if node.op not in FUSIBLE:
            for value in node.inputs:
                use(value, node if absorbs(node) else value)
            for region in node.regions:
                for value in region.captured():
                    use(value, value)
            continue
        value = node.output
        own = consumers.get(value, set())
        if (
            len(own) > 1
            and node.op not in views.VIEWS
            and not is_splat(value)
            and node.op != "iota"
        ):
            stored.add(value)
            own = {value}
        for operand in node.inputs:
            grows = node.op == "broadcast_in_dim" and operand.type.count < value.type.count
            for consumer in {operand} if grows and not _cheap(operand) else own:
                use(operand, consumer)
    # Values with one user, which broadcasts them, and which a kernel of its own therefore computes.
    for value, where in consumers.items():
        if where == {value} and value.node and value.op in elementwise.OPERATIONS:
            stored.add(value)
    return stored


def computed_values(graph: Graph) -> set[Value]:
    """Return the results of all elementwise operations, except splats."""
    outputs = {node.output for node in graph.nodes if node.op in elementwise.OPERATIONS}
    return {value for value in outputs if not is_splat(value)}


def _cheap(value: Value, depth: int = 4) -> bool:
    if value.node is None or value.op not in FUSIBLE:
        return True  # in memory
    if value.op in views.VIEWS or value.op in ("constant", "iota"):
        return all(_cheap(operand, depth) for operand in value.node.inputs)
    if value.op not in _CHEAP or depth == 0:
        return False
    return all(_cheap(operand, depth - 1) for operand in value.node.inputs)
