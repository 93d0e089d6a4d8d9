"""Lower a graph to a plan: give values memory, and turn nodes into steps."""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar

import numpy as np
from xpu_runtime.codegen.affine import counters
from xpu_runtime.codegen.target import Target

from . import elementwise, views
from .emit import FUSIBLE, MAX_BUFFERS, Emitter, NeedsMemory, TooLarge
from .failures import Unsupported
from .graph import Graph, Node, Value
from .materialize import computed_values, stored_values
from .pending_kernel import Output, OutputSpec, make_pending_kernel
from .plan import MAX_DIMENSIONS, Buffer, Step, View, groups_of, make_step
from .splats import is_splat, splat
from .types import TOKEN, Type

T = TypeVar("T")
Lowering = Callable[["Lowerer", Node], None]
LOWERINGS: dict[str, Lowering] = {}
# Arguments of a kernel that are reserved for its outputs.
_WRITTEN = 4
# A concatenation of more operands is copied one by one.
_MAX_PARTS = 16
# Operations whose lowering computes their inputs itself.
ABSORBING: set[str] = set()


def lowering(*names: str, absorbs: bool = False) -> Callable[[Lowering], Lowering]:
    """Register a function as the lowering of these operations."""

    def register(function: Lowering) -> Lowering:
        for name in names:
            LOWERINGS[name] = function
        if absorbs:
            ABSORBING.update(names)
        return function

    return register


def check(node: Node) -> None:
    """Raise Unsupported if no kernel can compute the node."""
    for value in (*node.inputs, *node.outputs):
        if value.type.element.kind == "unknown":
            raise Unsupported(f"{node.op} of {value.type} is not supported on xpu")
    if node.op in elementwise.OPERATIONS:
        elementwise.expression(node, [""] * len(node.inputs))


class Lowerer:
    """The plan so far. ``steps`` is the current list of steps: the program's, or a body's.

    If ``unfused`` is set, every operation is a kernel of its own.
    """

    def __init__(self, target: Target, unfused: bool = False) -> None:
        self.target = target
        self.unfused = unfused
        self.views: dict[Value, View] = {}
        # Fusion may emit a kernel again when more values have memory than at first: see find_view_at.
        self.clock = 0
        self.view_times: dict[Value, int] = {}
        self.buffers: list[Buffer] = []
        self.constants: list[tuple[Buffer, np.ndarray]] = []
        self.steps: list[Step] = []
        self.main = self.steps
        self.is_materializing = False
        self.rejections: list[str] = []
        self.users: dict[Value, list[Node]] = {}  # in the graphs that were begun so far
        self.destinations: dict[Value, Buffer] = {}  # buffers of values whose memory is fixed

    def program(self, graph: Graph) -> list[Step]:
        """Lower a program, whose results go to output buffers; return its steps."""
        for index, parameter in enumerate(graph.parameters):
            self.views[parameter] = View.whole(
                self.buffer("parameter", parameter.type.bytes, index), parameter.type
            )
        outputs = []
        for index, result in enumerate(graph.results):
            outputs.append(self.buffer("output", result.type.bytes, index))
            self.destinations.setdefault(result, outputs[-1])
        self.graph(graph)
        for result, output in zip(graph.results, outputs, strict=True):
            self.copy_to(output, result)
        if self.rejections:
            raise Unsupported("; ".join(dict.fromkeys(self.rejections)))
        return self.steps

    # -- memory

    def buffer(self, kind: str, bytes: int, place: int = 0) -> Buffer:
        """Add a buffer to the plan; memory is assigned to it when all steps are known."""
        self.buffers.append(Buffer(kind, bytes, place))
        return self.buffers[-1]

    def new(self, type: Type) -> View:
        """Return a contiguous view of a new temporary buffer."""
        return View.whole(self.buffer("temporary", type.bytes), type)

    def result(self, value: Value) -> View:
        """Allocate memory for a value and set it as the value's view."""
        destination = self.destinations.get(value)
        view = View.whole(destination, value.type) if destination else self.new(value.type)
        self.set_view(value, view)
        return view

    def transposed_result(self, value: Value) -> View:
        """Allocate ``value`` transposed if all its users apply one permutation, otherwise row-major."""
        users = self.users.get(value, [])
        orders = {tuple(node.attributes.get("permutation", ())) for node in users}
        if value in self.destinations or len(orders) != 1 or () in orders:
            return self.result(value)
        (order,) = orders
        transposed = self.new(Type(value.type.element, tuple(value.shape[dim] for dim in order)))
        strides = tuple(transposed.strides[order.index(dim)] for dim in range(len(order)))
        self.set_view(value, transposed.with_layout(value.shape, strides))
        return self.views[value]

    def set_view(self, value: Value, view: View) -> None:
        """Set the memory of a value from now on."""
        self.clock += 1
        self.views[value], self.view_times[value] = view, self.clock

    def find_view_at(self, value: Value, time: int) -> View | None:
        """Return the view that a value had when the clock was ``time``, or None."""
        view = self.find_view(value)
        return view if self.view_times.get(value, 0) <= time else None

    def find_view(self, value: Value) -> View | None:
        """Return the view of a value, also through view operations; None if it has no memory."""
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
                self.views[outer], self.view_times[outer] = view, self.view_times.get(value, 0)
        return view

    def materialize(self, value: Value) -> View:
        """Return the view of a value; compute it first if it has no memory."""
        view = self.find_view(value)
        if view is None and self.is_materializing:
            raise NeedsMemory(value)  # _compute_in_turn() computes it first
        if view is None:
            splats = self._compute_in_turn(value)
            view = self.find_view(value)
            if self.steps is not self.main:
                for number in splats:  # filled only where this body runs
                    del self.views[number]
        assert view is not None, value
        return view

    def _compute_in_turn(self, value: Value) -> list[Value]:
        """Compute a value, and first the values it needs in memory; return the splats that were filled."""
        waiting, splats = [value], []
        self.is_materializing = True
        try:
            while waiting:
                if self.find_view(waiting[-1]) is None:
                    try:
                        self.compute(waiting[-1])
                    except NeedsMemory as missing:
                        waiting.append(missing.value)
                        continue
                    if is_splat(waiting[-1]):
                        splats.append(waiting[-1])
                waiting.pop()
        finally:
            self.is_materializing = False
        return splats

    def contiguous(self, value: Value) -> View:
        """Return a contiguous view of a value; copy the value if needed."""
        view = self.materialize(value)
        if view.contiguous:
            return view
        copy = self.new(value.type)
        self.copy(copy, view)
        return copy

    def with_max_dims(self, value: Value) -> View:
        """Return the view of a value, contiguous if it has more dimensions than the runtime allows."""
        return (
            self.materialize(value)
            if len(value.shape) <= MAX_DIMENSIONS
            else self.contiguous(value)
        )

    def copy(self, out: View, source: View) -> None:
        """Add a copy between any strides and element types; add nothing if there are no elements."""
        if not out.type.bytes:
            return
        if len(groups_of([out, source])) <= MAX_DIMENSIONS:
            self.add(make_step("copy", {"in": source}, {"out": out}))
            return
        emitter, at = Emitter(self.find_view), counters(out.shape)
        whole = Node("convert", [Value(source.type, None, 0)], [out.type])
        converted = elementwise.expression(whole, [emitter.load(source, at)])
        emitter.require_headers(out.element.header)
        name = emitter.define(out.element.math, converted)
        self.add_kernel(emitter, [Output(name, out)])

    def copy_to(self, buffer: Buffer, value: Value) -> None:
        """Copy a value to a buffer, unless it is there already."""
        if value.type.element is TOKEN:
            return
        view = self.materialize(value)
        if view.buffer is not buffer or not view.contiguous:
            self.copy(View.whole(buffer, value.type), view)

    def add(self, step: Step) -> None:
        """Append a step to the block that is being lowered, perhaps the body of a loop or branch."""
        self.steps.append(step)

    # -- nodes

    def graph(self, graph: Graph) -> None:
        """Lower the nodes of a graph, except for values that are fused into their users."""
        self.users |= graph.users()
        stored = stored_values(graph, lambda node: node.op in ABSORBING)
        if self.unfused:
            stored |= computed_values(graph)
        for node in graph.nodes:
            try:
                check(node)
                if node.op in FUSIBLE:
                    if node.output in stored:
                        self.materialize(node.output)
                elif node.op in LOWERINGS:
                    LOWERINGS[node.op](self, node)
                elif node.op.startswith("custom_call@"):
                    LOWERINGS["custom_call"](self, node)
                else:
                    raise Unsupported(f"{node.op} is not supported on xpu")
            except Unsupported as rejection:
                self._reject(node, rejection)

    def _reject(self, node: Node, rejection: Unsupported) -> None:
        """Record a rejection and go on, so that one error lists all of them."""
        self.rejections.append(f"{rejection}{f' ({node.where})' if node.where else ''}")
        for value in node.outputs:
            self.views.setdefault(value, self.new(value.type))

    def body(self, graph: Graph) -> list[Step]:
        """Lower a region and return its steps; values that it captures must have memory."""
        outside, self.steps = self.steps, []
        self.graph(graph)
        steps, self.steps = self.steps, outside
        return steps

    def capture(self, *graphs: Graph) -> None:
        """Give memory to the values that regions capture."""
        for graph in graphs:
            for value in graph.captured():
                if not is_splat(value):
                    self.materialize(value)

    def compute(self, value: Value) -> None:
        """Add the kernel that computes a value."""
        node = value.node
        assert node is not None, "a parameter has memory"
        if node.op not in FUSIBLE:
            raise AssertionError(f"{node} was not lowered in its turn")
        if node.op == "reshape":
            # It is a view of a contiguous array.
            contiguous = self.contiguous(node.inputs[0])
            self.set_view(value, contiguous.with_layout(value.shape, value.type.strides))
        elif (number := splat(value)) is not None:
            self.fill(number, self.result(value))
        elif node.op == "concatenate" and len(node.inputs) > _MAX_PARTS:
            self._concatenate(value)
        else:
            self.compute_together([value])

    def compute_together(self, values: list[Value]) -> None:
        """Add one kernel that computes several values of one shape."""
        if not values[0].type.count:
            for value in values:
                self.result(value)
            return
        at = counters(values[0].shape)
        emitter, names = self.emit(lambda emitter: [emitter.value(v, at) for v in values], values)
        time = self.clock
        views = [self.result(value) for value in values]

        def spec(value: Value, view: View) -> OutputSpec:
            return OutputSpec(
                lambda emitter: Output(emitter.value(value, at), view),
                value.shape,
                time,
                value,
                view,
            )

        outputs = [Output(name, view) for name, view in zip(names, views, strict=True)]
        self.add_kernel(emitter, outputs, list(map(spec, values, views)))

    def add_kernel(
        self, emitter: Emitter, outputs: list[Output], specs: list[OutputSpec] | None = None
    ) -> None:
        """Add the kernel of an emitter; it can be fused with others if ``specs`` is given."""
        self.add(make_pending_kernel(specs or [], emitter, outputs))

    def emit(self, write: Callable[[Emitter], T], values: list[Value]) -> tuple[Emitter, T]:
        """Call ``write`` with an emitter, again after giving memory to a value for which it needs memory."""
        while True:
            emitter = Emitter(self.find_view, MAX_BUFFERS - _WRITTEN)
            try:
                written = write(emitter)
                emitter.max_buffers = MAX_BUFFERS
                return emitter, written
            except NeedsMemory as missing:
                self.materialize(missing.value)
            except TooLarge:
                self._store_some(values, emitter)

    def _store_some(self, values: list[Value], emitter: Emitter) -> None:
        """Give memory to a part of a computation that is too large, the largest part that fits."""
        computed = [
            (work, -number, value)
            for number, (value, work) in enumerate(emitter.work.items())
            if value not in values and self.find_view(value) is None
        ]
        if computed:
            self.materialize(max(computed)[-1])
            return
        seen, level = set(values), list(values)
        while level:
            operands = [v for value in level if value.node for v in value.node.inputs]
            level = [
                v for v in dict.fromkeys(operands) if v not in seen and self.find_view(v) is None
            ]
            seen.update(level)
            of_level = [
                v for v in level if v.op not in views.VIEWS and v.op not in ("constant", "iota")
            ]
            if of_level:
                for value in of_level:
                    self.materialize(value)
                return
        raise Unsupported(f"{values[0]} reads more arrays than a kernel can")

    def _concatenate(self, value: Value) -> None:
        node = value.node
        assert node
        parts = [self.materialize(part) for part in node.inputs]
        out, dim, begin = self.result(value), node.attributes["dimension"], 0
        for part in parts:
            start = tuple(begin if d == dim else 0 for d in range(len(part.shape)))
            self.copy(out.slice(start, part.shape), part)
            begin += part.shape[dim]

    def start(self, out: View, value: Value) -> None:
        """Add the fill or copy of a value to memory that a later step changes."""
        number = splat(value)
        if number is not None:
            self.fill(number, out)
        else:
            self.copy(out, self.materialize(value))

    def fill(self, number: np.generic, out: View) -> None:
        """Add the fill of an array with a number of its type."""
        if out.type.count:
            self.add(make_step("fill", {}, {"out": out}, pattern=number.tobytes().hex()))
