"""Lower a graph to a plan: give values memory, and turn nodes into steps."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace

import numpy as np
from xpu_runtime.codegen.affine import Affine, counters
from xpu_runtime.codegen.statements import Operand
from xpu_runtime.codegen.target import Target

from . import elementwise, views
from .emit import Emitter
from .failures import Unsupported
from .graph import Graph, Node, Value
from .materialize import computed_values, stored_values
from .operands import FUSIBLE
from .pending_kernel import CustomKernel, Output, Start, make_kernel
from .plan import MAX_DIMENSIONS, Buffer, Step, View, groups_of, make_step
from .splats import is_splat, splat
from .types import TOKEN, Type
from .walk import MAX_BUFFERS, Walk

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
        self.buffers: list[Buffer] = []
        self.constants: list[tuple[Buffer, np.ndarray]] = []
        self.steps: list[Step] = []
        self.main = self.steps
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
        self.views[value] = view
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
        self.views[value] = transposed.with_layout(value.shape, strides)
        return self.views[value]

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
                self.views[outer] = view
        return view

    def materialize(self, value: Value) -> View:
        """Return the view of a value; compute it first if it has no memory, and before it what it needs."""
        waiting, splats = [value], []
        while waiting:
            if self.find_view(waiting[-1]) is None:
                if (needed := self.compute(waiting[-1])) is not None:
                    waiting.append(needed)
                    continue
                if is_splat(waiting[-1]):
                    splats.append(waiting[-1])
            waiting.pop()
        view = self.find_view(value)
        assert view is not None, value
        if self.steps is not self.main:
            for number in splats:  # filled only where this body runs
                del self.views[number]
        return view

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
        at = counters(out.shape)
        given = Value(source.type, None, 0)
        converted = Node("convert", [given], [out.type]).output
        self.add_written(lambda e: [e.value(converted, at)], [out], {given: source})

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

    def compute(self, value: Value) -> Value | None:
        """Add the kernel that computes a value, or return a value that must be in memory before."""
        node = value.node
        assert node is not None, "a parameter has memory"
        if node.op not in FUSIBLE:
            raise AssertionError(f"{node} was not lowered in its turn")
        if node.op == "reshape":
            if self.find_view(node.inputs[0]) is None:
                return node.inputs[0]
            # It is a view of a contiguous array.
            contiguous = self.contiguous(node.inputs[0])
            self.views[value] = contiguous.with_layout(value.shape, value.type.strides)
        elif (number := splat(value)) is not None:
            self.fill(number, self.result(value))
        elif node.op == "concatenate" and len(node.inputs) > _MAX_PARTS:
            return self._concatenate(value)
        elif not value.type.count:
            self.result(value)
        else:
            walk = self._begin_walk()
            walk.visit(value, counters(value.shape))
            if (needed := self._needed_by(walk, [value])) is not None:
                return needed
            self.add(make_kernel([Output(value, self.result(value), walk.reads)], walk))
        return None

    def _begin_walk(self) -> Walk:
        return Walk(self.find_view, MAX_BUFFERS - _WRITTEN)

    def walk(self, visit: Callable[[Walk], None], values: Sequence[Value]) -> Walk:
        """Give memory to what a kernel of ``values`` must read; return the kernel's walk."""
        while True:
            walk = self._begin_walk()
            visit(walk)
            needed = self._needed_by(walk, values)
            if needed is None:
                return walk
            self.materialize(needed)

    def _needed_by(self, walk: Walk, values: Sequence[Value]) -> Value | None:
        """Return a value that must be in memory so that one kernel can compute ``values``; None if it can.

        Of a computation that is too large, it is the largest part that fits.
        """
        walk.max_arrays = MAX_BUFFERS
        if not walk.is_too_large:
            return walk.missing
        computed = [
            (work, -number, value)
            for number, (value, work) in enumerate(walk.work.items())
            if value not in values and self.find_view(value) is None
        ]
        if computed:
            return max(computed)[-1]
        seen, level = set(values), list(values)
        while level:
            operands = [v for value in level if value.node for v in value.node.inputs]
            level = [
                v for v in dict.fromkeys(operands) if v not in seen and self.find_view(v) is None
            ]
            seen.update(level)
            for value in level:
                if value.op not in views.VIEWS and value.op not in ("constant", "iota"):
                    return value
        raise Unsupported(f"{values[0]} reads more arrays than a kernel can")

    def add_kernel(
        self,
        write: Callable[[Emitter], Sequence[Operand]],
        views: list[View],
        reads: Sequence[Value],
    ) -> None:
        """Add a kernel with statements of its own, which read elements of ``reads`` at any positions."""

        def visit(walk: Walk) -> None:
            for value in reads:
                walk.visit(value, tuple(Affine.of(f"at{dim}") for dim in range(len(value.shape))))

        self.add_written(write, views, self.walk(visit, reads).reads)

    def add_written(
        self,
        write: Callable[[Emitter], Sequence[Operand]],
        views: list[View],
        found: dict[Value, View],
        stored: Sequence[View] = (),
    ) -> None:
        """Add a kernel with statements of its own; see CustomKernel."""
        self.add(
            CustomKernel("kernel", {}, write=write, views=views, found=found, stored=[*stored])
        )

    def add_update(self, value: Value, view: View, starts: list[Start]) -> None:
        """Add a kernel that computes a value and stores it in a part of a view's memory."""
        output = Output(value, view, {}, tuple(starts), is_whole=False)
        walk = self.walk(output.walk, [value])
        self.add(make_kernel([replace(output, reads=walk.reads)], walk))

    def _concatenate(self, value: Value) -> Value | None:
        """Add copies of the operands, or return one that must be in memory before."""
        node = value.node
        assert node
        for part in node.inputs:
            if self.find_view(part) is None:
                return part
        parts = [self.materialize(part) for part in node.inputs]
        out, dim, begin = self.result(value), node.attributes["dimension"], 0
        for view in parts:
            start = tuple(begin if d == dim else 0 for d in range(len(view.shape)))
            self.copy(out.slice(start, view.shape), view)
            begin += view.shape[dim]
        return None

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
