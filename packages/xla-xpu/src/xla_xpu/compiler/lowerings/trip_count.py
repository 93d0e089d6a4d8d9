"""Trip counts of loops that count from one constant to another."""

from __future__ import annotations

from dataclasses import dataclass

from ..graph import Graph, Node
from ..splats import splat


@dataclass(frozen=True)
class TripCount:
    """A loop whose state number ``state`` counts from ``first`` in steps of ``step``."""

    state: int
    first: int
    step: int
    trips: int

    @property
    def last(self) -> int:
        """The counter after the loop."""
        return self.first + self.trips * self.step


def trip_count_of(node: Node) -> TripCount | None:
    """Return the trip count of a loop, or None if data decide it."""
    condition, body = node.regions
    test = condition.results[0].node
    if test is None or test.op != "compare" or test.attributes["comparison_direction"] != "LT":
        return None
    counter, limit = test.inputs
    if counter not in condition.parameters:
        return None
    state = condition.parameters.index(counter)
    first, end, step = splat(node.inputs[state]), splat(limit), _step(body, state)
    if first is None or end is None or step is None:
        return None
    return TripCount(state, int(first), step, max(0, -(-(int(end) - int(first)) // step)))


def _step(body: Graph, state: int) -> int | None:
    node, counter = body.results[state].node, body.parameters[state]
    if node is None or node.op != "add" or counter not in node.inputs:
        return None
    step = splat(node.inputs[1] if node.inputs[0] is counter else node.inputs[0])
    return int(step) if step is not None and int(step) > 0 else None
