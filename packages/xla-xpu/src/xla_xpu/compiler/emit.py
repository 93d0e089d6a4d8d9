"""Emit the statements that compute one element of a fused computation.

Positions are in terms of the dimensions: the loops are chosen when all positions are known (see
``xpu_runtime.codegen``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from xpu_runtime.codegen.affine import Affine, Coordinates, counters, dot
from xpu_runtime.codegen.builder import Builder
from xpu_runtime.codegen.conversions import bits_of, of_bits
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.program import Array
from xpu_runtime.codegen.statements import If, Load, Operand, Statement, Store, Term

from . import elementwise, views
from .graph import Graph, Node, Value
from .operands import Key, changes_width, operands_of, part_of
from .pending_kernel import Output, Start
from .plan import Buffer, View
from .regions import rare_headers, region_statements
from .types import Element
from .walk import Locate

# Returns an element that is in registers.
Reader = Callable[["Emitter", Coordinates], Operand]
_NO_SHIFT = Affine()


class Emitter(Builder):
    """The statements so far, in the order of a walk. ``locate`` is that of the walk."""

    def __init__(self, locate: Locate) -> None:
        super().__init__()
        self.locate = locate
        self.buffers: dict[tuple[Buffer, Element], int] = {}  # the number of each argument
        self.elements: dict[Key, Operand] = {}
        self.registers: dict[Value, Reader] = {}
        self.rare_headers: set[str] = set()  # of the statements' elements and functions

    def value(self, value: Value, at: Coordinates) -> Operand:
        """Return the operand of a value's element at ``at``; add the statements that compute it."""
        target = (value, at)
        stack: list[Key] = [target]
        begun: dict[Key, list[Key]] = {}  # the operands of each key
        while stack:
            key = stack[-1]
            if key not in self.elements:
                if key not in begun:
                    begun[key] = self._operands(*key)
                    missing = [other for other in begun[key] if other not in self.elements]
                    if missing:
                        stack += missing
                        continue
                self.elements[key] = self._define(*key, [self.elements[k] for k in begun[key]])
            stack.pop()
        return self.elements[target]

    def argument(self, buffer: Buffer, element: Element) -> int:
        """Return the number of the kernel argument for a buffer as an element type; add it if needed."""
        pair = (buffer.root, element)
        return self.buffers.setdefault(pair, len(self.buffers))

    def store(self, view: View, value: Operand, shift: Affine = _NO_SHIFT) -> Store:
        """Return the store of the element of the loop counters, moved by ``shift``."""
        return self.store_at(view, counters(view.shape), value, shift)

    def store_at(self, view: View, at: Coordinates, value: Operand, shift: Affine) -> Store:
        """Return the store of the element at ``at``, moved by ``shift``."""
        position = dot(at, view.strides) + view.offset + shift
        return Store(self.argument(view.buffer, view.element), position, value)

    def output(self, output: Output) -> Store:
        """Add the statements that compute an element of an output; return its store."""
        shift = self.shift(output.starts)
        value = self.value(output.value, counters(output.value.shape))
        return self.store(output.view, value, shift)

    def shift(self, starts: Iterable[Start]) -> Affine:
        """Add the statements that compute where a part of an array begins; return the position."""
        shift = Affine()
        for start in starts:
            number = self.value(start.value, ())
            begin = clamped(number, start.value.type.element, start.room)
            shift = shift + Affine.of(self.define("i64", begin)) * start.stride
        return shift

    def arrays(self, written: Iterable[View]) -> list[Array]:
        """Return the kernel's arguments; kernels write those of ``written``."""
        writes = {self.argument(view.buffer, view.element) for view in written}
        return [
            Array(element, buffer.bytes, number in writes)
            for (buffer, element), number in self.buffers.items()
        ]

    # -- operands and definitions of elements

    def _operands(self, value: Value, at: Coordinates) -> list[Key]:
        if value in self.registers or self.locate(value) is not None:
            return []
        operands = None if value.node is None else operands_of(value.node, at)
        assert operands is not None, f"the walk found no memory for {value}"
        return operands

    def _define(self, value: Value, at: Coordinates, arguments: list[Operand]) -> Operand:
        element = value.type.element
        self.require_headers(element.header)
        if value in self.registers:
            return self.registers[value](self, at)
        view = self.locate(value)
        if view is not None:
            return self.load(view, at)
        node = value.node
        assert node is not None
        if node.op in views.VIEWS:
            return arguments[0]
        if node.op == "constant":
            return literal(node.attributes["value"].reshape(-1)[0], element)
        if node.op == "iota":
            counter = at[node.attributes["iota_dimension"]]
            return self.let(element.math, f"{element.math}({{0}})", counter)
        if node.op == "pad":
            return self._pad(node, at)
        if node.op == "concatenate":
            return self._concatenate(node, at)
        if node.op == "dynamic_slice":
            return self._dynamic_slice(node, at, arguments)
        if node.op == "short_reduce":
            return self._short_reduce(node, at, arguments[0])
        if changes_width(node):
            return self.define(element.math, self._bits(node, at, arguments))
        self.require_headers(elementwise.header_of(node))
        return self.define(element.math, elementwise.expression(node, arguments))

    def load(self, view: View, at: Coordinates) -> str:
        """Load an element from memory and return its name."""
        place = dot(at, view.strides) + view.offset
        self.require_headers(view.element.header)
        number = self.argument(view.buffer, view.element)
        key = number, place
        name = self.definitions.get(key)
        if name is None:
            name = self.definitions[key] = self.new_name()
            self.add(Load(name, number, place))
        return name

    def require_headers(self, *names: str) -> None:
        """Add rare headers; an empty name is none."""
        self.rare_headers.update(names)

    @property
    def headers(self) -> list[str]:
        """Headers of the device library that the statements need."""
        return elementwise.headers_of(self.rare_headers)

    def region(
        self,
        region: Graph,
        names: Sequence[Operand],
        read: Callable[[Value], Operand] | None = None,
    ) -> list[Operand]:
        """Add the statements of a region and return its results; ``names`` are those of its parameters."""
        self.require_headers(*rare_headers(region))
        statements, results = region_statements(region, names, read)
        for statement in statements:
            self.add(statement)
        return results

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Limit elements and definitions in the block to it."""
        elements, self.elements = self.elements, dict(self.elements)
        with super().scope():
            yield
        self.elements = elements

    def variable(self, element: Element, first: Operand | None = None) -> str:
        """Declare a new variable, optionally with an initial value."""
        return self.var(element.math, first)

    def _set_from(self, name: str, value: Value, at: Coordinates) -> list[Statement]:
        """Return the body that assigns an element to a variable."""
        with self.body() as body:
            self.set(name, self.value(value, at))
        return body

    def _pad(self, node: Node, at: Coordinates) -> str:
        element = node.output.type.element
        padding = self.value(node.inputs[1], ())
        inside, conditions = [], []
        places: list[Operand] = []
        interior = node.attributes["interior_padding"]
        for dim, low in enumerate(node.attributes["edge_padding_low"]):
            size, step = node.inputs[0].shape[dim], interior[dim] + 1
            if low == 0 and step == 1 and size == node.output.shape[dim]:
                inside.append(at[dim])
                continue
            place, number = at[dim] + -low, f"({{{len(places)}}})"
            places.append(place)
            if step == 1:
                conditions.append(f"(u64)(i64){number} < {size}ul")
                inside.append(place)
            else:
                conditions.append(
                    f"{number} >= 0 && {number} % {step} == 0 && {number} / {step} < {size}"
                )
                inside.append(Affine.of(self.let("i64", f"({{0}}) / {step}", place)))
        name = self.variable(element)
        body = self._set_from(name, node.inputs[0], tuple(inside))
        condition = Term(" && ".join(conditions) or "true", tuple(places))
        with self.body() as orelse:
            self.set(name, padding)
        self.add(If(condition, body, orelse))
        return name

    def _concatenate(self, node: Node, at: Coordinates) -> Operand:
        element, dim = node.output.type.element, node.attributes["dimension"]
        if not at[dim].terms:
            return self.value(*part_of(node, at))
        name = self.variable(element)
        begin = 0
        parts: list[tuple[int, list[Statement]]] = []  # the end of each part, and what it does
        for part in node.inputs:
            if part.shape[dim]:
                inside = tuple(c + -begin if d == dim else c for d, c in enumerate(at))
                begin += part.shape[dim]
                parts.append((begin, self._set_from(name, part, inside)))
        chain = parts[-1][1]
        for end, body in reversed(parts[:-1]):
            chain = [If(Term(f"{{0}} < {end}", (at[dim],)), body, chain)]
        self.statements += chain
        return name

    def _short_reduce(self, node: Node, at: Coordinates, start: Operand) -> str:
        """Emit a reduction of few elements as loops of one lane."""
        name = self.variable(node.output.type.element, start)
        rest, inside, dims = iter(at), [], node.attributes["dimensions"]
        with ExitStack() as loops:
            for dim, size in enumerate(node.inputs[0].shape):
                if dim in dims:
                    inside.append(loops.enter_context(self.loop(str(size))))
                else:
                    inside.append(next(rest))
            element = self.value(node.inputs[0], tuple(inside))
            (result,) = self.region(node.regions[0], [name, element])
            self.set(name, result)
        return name

    def _bits(self, node: Node, at: Coordinates, parts: list[Operand]) -> Term:
        """Return a part of a wide element, or a wide element of its parts; the lowest bits come first."""
        source, element = node.inputs[0].type.element, node.output.type.element
        if len(at) > len(node.inputs[0].shape):
            text = f"{bits_of(source, '{0}')} >> (({{1}}) * {element.bits})"
            return Term(of_bits(element, text), (parts[0], at[-1]))
        whole = f"u{element.bits}"
        texts = [
            f"({whole}){bits_of(source, f'{{{k}}}')} << {k * source.bits}"
            for k in range(len(parts))
        ]
        return Term(of_bits(element, " | ".join(texts)), tuple(parts))

    def _dynamic_slice(self, node: Node, at: Coordinates, starts: list[Operand]) -> Operand:
        source = node.inputs[0]
        inside = []
        for dim, (start, size) in enumerate(
            zip(starts, node.attributes["slice_sizes"], strict=True)
        ):
            room = source.shape[dim] - size
            if room == 0:
                inside.append(at[dim])
                continue
            first = clamped(start, node.inputs[1 + dim].type.element, room)
            inside.append(at[dim] + Affine.of(self.define("i64", first)))
        return self.value(source, tuple(inside))


def clamped(start: Operand, element: Element, room: int) -> Term:
    """Return a slice's start clamped to [0, room], as an i64."""
    if element.kind == "uint":
        return Term(f"(i64)min_of((u64){{0}}, {room}ul)", (start,))
    return Term(f"max_of(min_of((i64){{0}}, {room}l), 0l)", (start,))
