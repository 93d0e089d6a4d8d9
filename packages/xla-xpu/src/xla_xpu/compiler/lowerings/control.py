"""Lowerings of loops and branches."""

from __future__ import annotations

from ..graph import Graph, Node
from ..lower import Lowerer, lowering
from ..plan import Step, View
from .register_loop import run_in_registers
from .stacked_outputs import is_covered, stacked_outputs_of
from .trip_count import trip_count_of


@lowering("while")
def loop(lowerer: Lowerer, node: Node) -> None:
    """Keep carried states in buffers; a state that the body does not change stays in its memory."""
    condition, body = node.regions
    lowerer.capture(condition, body)
    counted = trip_count_of(node)
    if counted and run_in_registers(lowerer, node, counted):
        return
    stacked = stacked_outputs_of(body, list(range(len(body.parameters)))) if counted else {}
    step = Step("loop", {})
    states: list[View] = []
    for index, (start, output) in enumerate(zip(node.inputs, node.outputs, strict=True)):
        if body.results[index] is body.parameters[index]:
            lowerer.views[output] = lowerer.materialize(start)
        elif counted and index in stacked and is_covered(stacked[index], body, counted):
            # Every iteration writes a part, which is read after the loop.
            step.writes.append(lowerer.result(output).buffer)
        else:
            lowerer.start(lowerer.result(output), start)
        states.append(lowerer.views[output])
        for region in (condition, body):
            lowerer.views[region.parameters[index]] = states[-1]
    if counted is None:
        tests = lowerer.body(condition)
        outside, lowerer.steps = lowerer.steps, tests
        predicate = lowerer.materialize(condition.results[0])
        lowerer.steps = outside
        step.fields["predicate"] = predicate
        step.reads.append(predicate.buffer)
        step.bodies.append(tests)
    else:
        step.fields["trips"] = counted.trips
    step.bodies.append(_round(lowerer, body, states))
    lowerer.add(step)


def _round(lowerer: Lowerer, body: Graph, states: list[View]) -> list[Step]:
    """Lower the body, then copy its results to the states for the next iteration."""
    steps = lowerer.body(body)
    outside, lowerer.steps = lowerer.steps, steps
    copies = []
    state_buffers = {view.buffer for view in states}
    for result, parameter, state in zip(body.results, body.parameters, states, strict=True):
        if result is parameter:
            continue
        view = lowerer.materialize(result)
        if view.buffer in state_buffers:  # another state's memory, which a copy may overwrite
            copy = lowerer.new(result.type)
            lowerer.copy(copy, view)
            view = copy
        copies.append((state, view))
    for state, view in copies:
        lowerer.copy(state, view)
    steps, lowerer.steps = lowerer.steps, outside
    return steps


@lowering("case", "if")
def branch(lowerer: Lowerer, node: Node) -> None:
    """Each branch leaves its results in the same places."""
    lowerer.capture(*node.regions)
    index = lowerer.materialize(node.inputs[0])
    outs = [lowerer.result(value) for value in node.outputs]
    # A predicate is read as an index: false is branch 0.
    regions = node.regions if node.op == "case" else node.regions[::-1]
    step = Step("branch", {"index": index}, reads=[index.buffer])
    for region in regions:
        steps = lowerer.body(region)
        outside, lowerer.steps = lowerer.steps, steps
        for result, out in zip(region.results, outs, strict=True):
            lowerer.copy(out, lowerer.materialize(result))
        steps, lowerer.steps = lowerer.steps, outside
        step.bodies.append(steps)
    lowerer.add(step)
