"""From a graph to a plan: gives values memory, and turns nodes into steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np

from . import elementwise, views
from .emit import FUSIBLE, MOST_BUFFERS, Emitter, NeedsMemory, TooLarge
from .failures import Unsupported
from .fuse import computed_values, stored_values
from .graph import Graph, Node, Value
from .loops import Output, Target
from .plan import MOST_DIMENSIONS, Buffer, Step, View, groups_of, make_step
from .space import counters
from .splats import is_splat, splat
from .tasks import Goal, make_task
from .types import TOKEN, Type

T = TypeVar("T")
Lowering = Callable[["Lowerer", Node], None]
LOWERINGS: dict[str, Lowering] = {}
# Arguments of a kernel that are kept for what it writes.
_WRITTEN = 4
# A concatenation of more is copied piece by piece.
_MOST_PARTS = 16
# Nodes that compute their inputs themselves.
ABSORBING: set[str] = set()


def lowering(*names: str, absorbs: bool = False) -> Callable[[Lowering], Lowering]:
    """Makes a function the lowering of the operations of these names."""

    def register(function: Lowering) -> Lowering:
        for name in names:
            LOWERINGS[name] = function
        if absorbs:
            ABSORBING.update(names)
        return function

    return register


def check(node: Node) -> None:
    """Refuse what no kernel can compute."""
    for value in (*node.inputs, *node.outputs):
        if value.type.element.kind == "unknown":
            raise Unsupported(f"{node.op} of {value.type} is not supported on xpu")
    if node.op in elementwise.OPERATIONS:
        elementwise.expression(node, [""] * len(node.inputs))


class Lowerer:
    """The plan so far. ``steps`` is the list that is being written: the program's, or a body's.

    ``apart``: every operation is a kernel of its own.
    """

    def __init__(self, target: Target, apart: bool = False) -> None:
        self.target = target
        self.apart = apart
        self.views: dict[Value, View] = {}
        # A kernel may be written anew when more is in memory than when it was queued: see known_at.
        self.clock = 0
        self.since: dict[Value, int] = {}
        self.buffers: list[Buffer] = []
        self.constants: list[tuple[Buffer, np.ndarray]] = []
        self.steps: list[Step] = []
        self.main = self.steps
        self.placing = False
        self.refusals: list[str] = []
        self.users: dict[Value, list[Node]] = {}  # in the graphs begun so far
        self.goals: dict[
            Value, Buffer
        ] = {}  # values that belong into a buffer that is there already

    def program(self, graph: Graph) -> list[Step]:
        """The steps of a program, whose results go to output buffers."""
        for index, parameter in enumerate(graph.parameters):
            self.views[parameter] = View.whole(
                self.buffer("parameter", parameter.type.bytes, index), parameter.type
            )
        outputs = []
        for index, result in enumerate(graph.results):
            outputs.append(self.buffer("output", result.type.bytes, index))
            self.goals.setdefault(result, outputs[-1])
        self.graph(graph)
        for result, output in zip(graph.results, outputs, strict=True):
            self.copy_to(output, result)
        if self.refusals:
            raise Unsupported("; ".join(dict.fromkeys(self.refusals)))
        return self.steps

    # -- memory

    def buffer(self, kind: str, bytes: int, place: int = 0) -> Buffer:
        """A new buffer."""
        self.buffers.append(Buffer(kind, bytes, place))
        return self.buffers[-1]

    def new(self, type: Type) -> View:
        """Memory for an array."""
        return View.whole(self.buffer("temporary", type.bytes), type)

    def result(self, value: Value) -> View:
        """Memory for a value, which from now on lies there."""
        goal = self.goals.get(value)
        view = View.whole(goal, value.type) if goal else self.new(value.type)
        self.remember(value, view)
        return view

    def turned_result(self, value: Value) -> View:
        """The same in the order in which it is read, when all who read it turn it alike."""
        users = self.users.get(value, [])
        orders = {tuple(node.attributes.get("permutation", ())) for node in users}
        if value in self.goals or len(orders) != 1 or () in orders:
            return self.result(value)
        (order,) = orders
        turned = self.new(Type(value.type.element, tuple(value.shape[dim] for dim in order)))
        strides = tuple(turned.strides[order.index(dim)] for dim in range(len(order)))
        self.remember(value, turned.with_layout(value.shape, strides))
        return self.views[value]

    def remember(self, value: Value, view: View) -> None:
        """From now on the value lies there."""
        self.clock += 1
        self.views[value], self.since[value] = view, self.clock

    def known_at(self, value: Value, time: int) -> View | None:
        """Where a value lay when the clock showed ``time``, if it did."""
        view = self.known(value)
        return view if self.since.get(value, 0) <= time else None

    def known(self, value: Value) -> View | None:
        """Where a value lies, if it does."""
        chain = []
        while value not in self.views and value.node and value.op in views.VIEWS:
            chain.append(value)
            value = value.node.inputs[0]
        if value.op == "constant" and not is_splat(value) and value not in self.views:
            assert value.node
            array = value.node.attributes["value"]
            buffer = self.buffer("constant", array.nbytes)
            self.constants.append((buffer, array))
            self.views[value] = View.whole(buffer, value.type)
        view = self.views.get(value)
        for outer in reversed(chain):
            if view is None:
                return None
            assert outer.node
            view = views.view_of(outer.node, view)
            if view is not None:
                self.views[outer], self.since[outer] = view, self.since.get(value, 0)
        return view

    def place(self, value: Value) -> View:
        """Where a value lies; computes it first when it has no memory yet."""
        view = self.known(value)
        if view is None and self.placing:
            raise NeedsMemory(value)  # before what is being computed can go on
        if view is None:
            filled = self._compute_in_turn(value)
            view = self.known(value)
            if self.steps is not self.main:
                for number in filled:  # where this body runs, and nowhere else
                    del self.views[number]
        assert view is not None, value
        return view

    def _compute_in_turn(self, value: Value) -> list[Value]:
        """Computes a value after what it needs in memory; returns the numbers arrays were filled with."""
        waiting, filled = [value], []
        self.placing = True
        try:
            while waiting:
                if self.known(waiting[-1]) is None:
                    try:
                        self.compute(waiting[-1])
                    except NeedsMemory as missing:
                        waiting.append(missing.value)
                        continue
                    if is_splat(waiting[-1]):
                        filled.append(waiting[-1])
                waiting.pop()
        finally:
            self.placing = False
        return filled

    def dense(self, value: Value) -> View:
        """The same, row-major."""
        view = self.place(value)
        if view.dense:
            return view
        copy = self.new(value.type)
        self.copy(copy, view)
        return copy

    def few(self, value: Value) -> View:
        """Where a value lies; one of more dimensions than the runtime takes, row-major."""
        return self.place(value) if len(value.shape) <= MOST_DIMENSIONS else self.dense(value)

    def copy(self, out: View, source: View) -> None:
        """Queue a copy."""
        if not out.type.bytes:
            return
        if len(groups_of([out, source])) <= MOST_DIMENSIONS:
            self.add(make_step("copy", {"in": source}, {"out": out}))
            return
        emitter, at = Emitter(self.known), counters(out.shape)
        whole = Node("convert", [Value(source.type, None, 0)], [out.type])
        name = elementwise.expression(whole, [emitter.load(source, at)])
        emitter.complex = "complex" in (source.element.kind, out.element.kind)
        name = emitter.define(out.element.math, name)
        self.add_kernel(emitter, [Output(name, out)])

    def copy_to(self, buffer: Buffer, value: Value) -> None:
        """Make sure that a value lies in a buffer."""
        if value.type.element is TOKEN:
            return
        view = self.place(value)
        if view.buffer is not buffer or not view.dense:
            self.copy(View.whole(buffer, value.type), view)

    def add(self, step: Step) -> None:
        """Queue a step."""
        self.steps.append(step)

    # -- nodes

    def graph(self, graph: Graph) -> None:
        """Queue what a graph computes, all but values that nobody stored."""
        self.users |= graph.users()
        stored = stored_values(graph, lambda node: node.op in ABSORBING)
        if self.apart:
            stored |= computed_values(graph)
        for node in graph.nodes:
            try:
                check(node)
                if node.op in FUSIBLE:
                    if node.output in stored:
                        self.place(node.output)
                elif node.op in LOWERINGS:
                    LOWERINGS[node.op](self, node)
                elif node.op.startswith("custom_call@"):
                    LOWERINGS["custom_call"](self, node)
                else:
                    raise Unsupported(f"{node.op} is not supported on xpu")
            except Unsupported as refusal:
                self._refuse(node, refusal)

    def _refuse(self, node: Node, refusal: Unsupported) -> None:
        """Go on as if it had been lowered: what else is refused is to be said with it."""
        self.refusals.append(f"{refusal}{f' ({node.where})' if node.where else ''}")
        for value in node.outputs:
            self.views.setdefault(value, self.new(value.type))

    def body(self, graph: Graph) -> list[Step]:
        """The steps of a region; what it takes from outside must have memory."""
        outside, self.steps = self.steps, []
        self.graph(graph)
        steps, self.steps = self.steps, outside
        return steps

    def capture(self, *graphs: Graph) -> None:
        """Gives memory to what regions take from outside."""
        for graph in graphs:
            for value in graph.captured():
                if not is_splat(value):
                    self.place(value)

    def compute(self, value: Value) -> None:
        """Queue the kernel of a fused computation."""
        node = value.node
        assert node is not None, "a parameter has memory"
        if node.op not in FUSIBLE:
            raise AssertionError(f"{node} was not lowered in its turn")
        if node.op == "reshape":
            # Of what lies in order it is a view.
            dense = self.dense(node.inputs[0])
            self.remember(value, dense.with_layout(value.shape, value.type.strides))
        elif (number := splat(value)) is not None:
            self.fill(number, self.result(value))
        elif node.op == "concatenate" and len(node.inputs) > _MOST_PARTS:
            self._concatenate(value)
        else:
            self.compute_together([value])

    def compute_together(self, values: list[Value]) -> None:
        """Queue one kernel that computes several values of one shape."""
        if not values[0].type.count:
            for value in values:
                self.result(value)
            return
        at = counters(values[0].shape)
        emitter, names = self.emit(lambda emitter: [emitter.value(v, at) for v in values], values)
        time = self.clock
        views = [self.result(value) for value in values]

        def goal(value: Value, view: View) -> Goal:
            return Goal(
                lambda emitter: Output(emitter.value(value, at), view),
                value.shape,
                time,
                value,
                view,
            )

        outputs = [Output(name, view) for name, view in zip(names, views, strict=True)]
        self.add_kernel(emitter, outputs, list(map(goal, values, views)))

    def add_kernel(
        self, emitter: Emitter, outputs: list[Output], goals: list[Goal] | None = None
    ) -> None:
        """Queue the kernel that an emitter has written; one with goals may be put together with others."""
        self.add(make_task(goals or [], emitter, outputs))

    def emit(self, write: Callable[[Emitter], T], values: list[Value]) -> tuple[Emitter, T]:
        """Write statements; what they cannot compute from ``values`` on the way gets memory first."""
        while True:
            emitter = Emitter(self.known, MOST_BUFFERS - _WRITTEN)
            try:
                written = write(emitter)
                emitter.most_buffers = MOST_BUFFERS
                return emitter, written
            except NeedsMemory as missing:
                self.place(missing.value)
            except TooLarge:
                self._store_some(values, emitter)

    def _store_some(self, values: list[Value], emitter: Emitter) -> None:
        """Gives memory to some of what too large a computation needs: the largest part that is not."""
        computed = [
            (work, -number, value)
            for number, (value, work) in enumerate(emitter.work.items())
            if value not in values and self.known(value) is None
        ]
        if computed:
            self.place(max(computed)[-1])
            return
        seen, level = set(values), list(values)
        while level:
            operands = [v for value in level if value.node for v in value.node.inputs]
            level = [v for v in dict.fromkeys(operands) if v not in seen and self.known(v) is None]
            seen.update(level)
            of_level = [
                v for v in level if v.op not in views.VIEWS and v.op not in ("constant", "iota")
            ]
            if of_level:
                for value in of_level:
                    self.place(value)
                return
        raise Unsupported(f"{values[0]} reads more arrays than a kernel can")

    def _concatenate(self, value: Value) -> None:
        node = value.node
        assert node
        parts = [self.place(part) for part in node.inputs]
        out, dim, begin = self.result(value), node.attributes["dimension"], 0
        for part in parts:
            start = tuple(begin if d == dim else 0 for d in range(len(part.shape)))
            self.copy(out.slice(start, part.shape), part)
            begin += part.shape[dim]

    def start(self, out: View, value: Value) -> None:
        """Queue what brings a value to memory that is changed afterwards."""
        number = splat(value)
        if number is not None:
            self.fill(number, out)
        else:
            self.copy(out, self.place(value))

    def fill(self, number: np.generic, out: View) -> None:
        """Queue the filling of an array with a number of its type."""
        if out.type.count:
            self.add(make_step("fill", {}, {"out": out}, pattern=number.tobytes().hex()))
