"""Stacked outputs: loop states of which every iteration writes a part, as in lax.scan."""

from __future__ import annotations

import operator
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from ..graph import Graph, Value
from ..splats import splat
from .trip_count import TripCount


@dataclass
class StackedOutput:
    """A state of which every iteration writes the part ``update`` at ``starts``."""

    state: int
    update: Value
    starts: list[Value]


def stacked_outputs_of(body: Graph, states: list[int]) -> dict[int, StackedOutput]:
    """Return the stacked outputs among the states: those that the body only writes to."""
    users = body.users()
    found = {}
    for k in states:
        parameter, node = body.parameters[k], body.results[k].node
        if node is None or node.op != "dynamic_update_slice" or node.inputs[0] is not parameter:
            continue
        if users[parameter] == [node] and node.output not in users:
            found[k] = StackedOutput(k, node.inputs[1], node.inputs[2:])
    return found


def is_covered(stacked: StackedOutput, body: Graph, count: TripCount) -> bool:
    """Return True if the iterations together write every element, so that the initial value is unused."""
    whole, part = body.parameters[stacked.state].shape, stacked.update.shape
    partial = [dim for dim, size in enumerate(whole) if part[dim] != size]
    if not partial:
        return count.trips > 0
    if len(partial) > 1 or part[partial[0]] != 1:
        return False
    (dim,) = partial
    trips = count.first + count.step * np.arange(count.trips)
    places = _over_trips(stacked.starts[dim], {body.parameters[count.state]: trips})
    return places is not None and set(np.ravel(places)) >= set(range(whole[dim]))


_COMPARISONS: dict[str, Callable[..., Any]] = {
    "LT": operator.lt,
    "LE": operator.le,
    "GT": operator.gt,
    "GE": operator.ge,
    "EQ": operator.eq,
    "NE": operator.ne,
}
_ARITHMETIC: dict[str, Callable[..., Any]] = {
    "add": operator.add,
    "subtract": operator.sub,
    "multiply": operator.mul,
    "convert": lambda number: number,
    "select": np.where,
}


def _over_trips(value: Value, known: dict[Value, np.ndarray]) -> np.ndarray | None:
    """Return a scalar's value in each iteration, if it depends only on the counter; otherwise None."""
    waiting = [value]
    while waiting:
        missing = [] if waiting[-1] in known else _operands(waiting[-1], known)
        if missing is None:
            return None
        if missing:
            waiting += missing
        else:
            waiting.pop()
    return known[value]


def _operands(value: Value, known: dict[Value, np.ndarray]) -> list[Value] | None:
    """Return the operands to evaluate before a scalar; evaluate it if there are none; None if impossible."""
    if value.shape or value.node is None or value.type.element.kind not in ("int", "uint", "bool"):
        return None
    if (number := splat(value)) is not None:
        known[value] = np.asarray(int(number))
        return []
    if value.op != "compare" and value.op not in _ARITHMETIC:
        return None
    missing = [operand for operand in value.node.inputs if operand not in known]
    if not missing:
        if value.op == "compare":
            compute = _COMPARISONS[value.node.attributes["comparison_direction"]]
        else:
            compute = _ARITHMETIC[value.op]
        known[value] = compute(*(known[operand] for operand in value.node.inputs))
    return missing
