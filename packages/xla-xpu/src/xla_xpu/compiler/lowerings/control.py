"""Loops and branches."""

from __future__ import annotations

from ..emit import is_splat, splat
from ..graph import Graph, Node
from ..lower import Lowerer, lowering
from ..plan import Step, View


@lowering("while")
def loop(lowerer: Lowerer, node: Node) -> None:
    """What is carried around lies in buffers; what the body leaves as it is stays where it was."""
    condition, body = node.regions
    lowerer.capture(condition, body)
    states: list[View] = []
    for index, (start, output) in enumerate(zip(node.inputs, node.outputs, strict=True)):
        if body.results[index] is body.parameters[index]:
            lowerer.views[output] = lowerer.place(start)
        elif is_splat(start) and output.type.count:
            lowerer.fill(start, lowerer.result(output))
        else:
            source = lowerer.place(start)
            lowerer.copy(lowerer.result(output), source)
        states.append(lowerer.views[output])
        for region in (condition, body):
            lowerer.views[region.parameters[index]] = states[-1]
    trips = trip_count(node)
    step = Step("loop", {})
    if trips is None:
        tests = lowerer.body(condition)
        outside, lowerer.steps = lowerer.steps, tests
        predicate = lowerer.place(condition.results[0])
        lowerer.steps = outside
        step.fields["predicate"] = predicate
        step.reads.append(predicate.buffer)
        step.bodies.append(tests)
    else:
        step.fields["trips"] = trips
    step.bodies.append(_round(lowerer, body, states))
    lowerer.add(step)


def _round(lowerer: Lowerer, body: Graph, states: list[View]) -> list[Step]:
    """The body's steps, then those that bring its results to where the next round looks."""
    steps = lowerer.body(body)
    outside, lowerer.steps = lowerer.steps, steps
    moves = []
    held = {view.buffer for view in states}
    for result, parameter, state in zip(body.results, body.parameters, states, strict=True):
        if result is parameter:
            continue
        view = lowerer.place(result)
        if view.buffer in held:  # another round's value, which a move may overwrite
            copy = lowerer.new(result.type)
            lowerer.copy(copy, view)
            view = copy
        moves.append((state, view))
    for state, view in moves:
        lowerer.copy(state, view)
    steps, lowerer.steps = lowerer.steps, outside
    return steps


def trip_count(node: Node) -> int | None:
    """How often a loop runs, when it counts from a number to a number."""
    condition, body = node.regions
    test = condition.results[0].node
    if test is None or test.op != "compare" or test.attributes["comparison_direction"] != "LT":
        return None
    counter, limit = test.inputs
    if counter not in condition.parameters:
        return None
    index = condition.parameters.index(counter)
    start, end = splat(node.inputs[index]), splat(limit)
    step = _step(body, index)
    if start is None or end is None or step is None:
        return None
    return max(0, -(-(int(end) - int(start)) // step))


def _step(body: Graph, index: int) -> int | None:
    node, counter = body.results[index].node, body.parameters[index]
    if node is None or node.op != "add" or counter not in node.inputs:
        return None
    other = node.inputs[1] if node.inputs[0] is counter else node.inputs[0]
    step = splat(other)
    return int(step) if step is not None and int(step) > 0 else None


@lowering("case", "if")
def branch(lowerer: Lowerer, node: Node) -> None:
    """Each branch leaves its results in the same places."""
    lowerer.capture(*node.regions)
    index = lowerer.place(node.inputs[0])
    outs = [lowerer.result(value) for value in node.outputs]
    # A predicate is read as a number: false comes first.
    regions = node.regions if node.op == "case" else node.regions[::-1]
    step = Step("branch", {"index": index}, reads=[index.buffer])
    for region in regions:
        steps = lowerer.body(region)
        outside, lowerer.steps = lowerer.steps, steps
        for result, out in zip(region.results, outs, strict=True):
            lowerer.copy(out, lowerer.place(result))
        steps, lowerer.steps = lowerer.steps, outside
        step.bodies.append(steps)
    lowerer.add(step)
