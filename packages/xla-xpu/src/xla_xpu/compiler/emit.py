"""Emit the statements that compute one element of a fused computation.

Positions are in terms of the dimensions: the loops are chosen when all positions are known (see
``xpu_runtime.codegen``).
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import ExitStack, contextmanager

from xpu_runtime.codegen.affine import Affine, Coordinates, dot
from xpu_runtime.codegen.builder import Builder
from xpu_runtime.codegen.conversions import bits_of, of_bits
from xpu_runtime.codegen.kernel import MAX_ARGUMENTS
from xpu_runtime.codegen.literals import literal
from xpu_runtime.codegen.program import Array
from xpu_runtime.codegen.statements import If, Load, Operand, Statement, Store, Term

from . import elementwise, views
from .graph import Graph, Node, Value
from .plan import Buffer, View
from .regions import rare_headers, region_statements
from .types import Element

# Operations that can be fused, besides elementwise operations and views.
STRUCTURAL = frozenset(["constant", "iota", "pad", "concatenate", "dynamic_slice", "short_reduce"])
FUSIBLE = elementwise.OPERATIONS | views.VIEWS | STRUCTURAL

Key = tuple[Value, Coordinates]
# Returns an element that is in registers.
Reader = Callable[["Emitter", Coordinates], Operand]

# The maximum number of arrays that a kernel reads and writes. Other arguments are sizes and shared offsets.
MAX_BUFFERS = MAX_ARGUMENTS - 4
# A kernel of more statements takes too long to compile.
MAX_LINES = 600
# The maximum nesting of conditions and loops.
_MAX_DEPTH = 8


class TooLarge(Exception):
    """The computation reads more arrays than a kernel takes arguments, or has too many statements."""


class NeedsMemory(Exception):
    """A value must be in memory first, for example because its positions are not affine."""

    def __init__(self, value: Value) -> None:
        super().__init__(value)
        self.value = value


class Emitter(Builder):
    """The statements so far. ``locate`` returns the view of a value, or None to compute it here."""

    def __init__(
        self,
        locate: Callable[[Value], View | None],
        max_buffers: int = MAX_BUFFERS,
        registers: dict[Value, Reader] | None = None,
    ) -> None:
        super().__init__()
        self.locate, self.max_buffers = locate, max_buffers
        self.buffers: dict[tuple[Buffer, Element], int] = {}  # the number of each argument
        self.loads: list[tuple[int, View, Affine]] = []
        self.elements: dict[Key, Operand] = {}
        self.depth = 0
        # The number of statements and loads of each value that is computed here.
        self.work: dict[Value, int] = {}
        self.registers: dict[Value, Reader] = {} if registers is None else registers
        self.stores: list[tuple[int, View]] = []  # arrays that statements write
        self.rare_headers: set[str] = set()  # of the statements' elements and functions

    def copy(self, locate: Callable[[Value], View | None]) -> Emitter:
        """Return an independent emitter with the same statements, which finds values by ``locate``."""
        copied = type(self).__new__(type(self))
        for name, value in vars(self).items():
            changes = isinstance(value, (dict, list, set))
            setattr(copied, name, value.copy() if changes else value)
        copied.locate = locate
        return copied

    def value(self, value: Value, at: Coordinates) -> Operand:
        """Return the operand of a value's element at ``at``; add the statements that compute it."""
        target = (value, at)
        self.depth += 1
        stack: list[Key] = [target]
        # Where each key's statements begin, and whether it has any; how many of those are still undefined.
        begun: dict[Key, tuple[int, bool]] = {}
        unwritten = 0
        while stack:
            key = stack[-1]
            if key in self.elements:
                stack.pop()
                continue
            if self.depth > _MAX_DEPTH and self._computes(key[0]):
                raise NeedsMemory(key[0])
            if key not in begun:
                begun[key] = self.size + len(self.loads), self._computes(key[0])
                unwritten += begun[key][1]
                if unwritten > MAX_LINES:
                    # It is certainly too large, and finding out now is cheaper than after emitting it. Fewer
                    # values fit beside loads, so the value at three quarters gets memory.
                    path = [
                        k[0] for k, (_, makes) in begun.items() if makes and k not in self.elements
                    ]
                    raise NeedsMemory(path[MAX_LINES * 3 // 4])
            needs = self._needs(*key)
            if self.size > MAX_LINES:
                raise TooLarge
            missing = [need for need in needs if need not in self.elements]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self.elements[key] = self._define(*key, [self.elements[need] for need in needs])
            begin, computes = begun[key]
            if computes:
                unwritten -= 1
                done = self.size + len(self.loads) - begin
                self.work[key[0]] = max(done, self.work.get(key[0], 0))
        self.depth -= 1
        return self.elements[target]

    def _computes(self, value: Value) -> bool:
        """Return True if statements compute the value."""
        if value.node is None or value in self.registers or value.op in ("constant", "iota"):
            return False
        return value.op not in views.VIEWS and self.locate(value) is None

    def argument(self, buffer: Buffer, element: Element) -> int:
        """Return the number of the kernel argument for a buffer as an element type; add it if needed."""
        pair = (buffer.root, element)
        number = self.buffers.get(pair)
        if number is None:
            if len(self.buffers) >= self.max_buffers:
                raise TooLarge
            number = self.buffers[pair] = len(self.buffers)
        return number

    def store(self, view: View, position: Affine, value: Operand) -> Store:
        """Return the store of an element of a view; the array becomes an argument."""
        return Store(self.argument(view.buffer, view.element), position, value)

    def arrays(self, written: Iterable[View]) -> list[Array]:
        """Return the kernel's arguments; kernels write those of ``written`` and of this emitter's stores."""
        writes = {number for number, _ in self.stores}
        writes.update(self.argument(view.buffer, view.element) for view in written)
        return [
            Array(element, buffer.bytes, number in writes)
            for (buffer, element), number in self.buffers.items()
        ]

    # -- operands and definitions of elements

    def _needs(self, value: Value, at: Coordinates) -> list[Key]:
        if value in self.registers:
            return []
        if self.locate(value) is not None or value.node is None:
            return []
        node = value.node
        if node.op in views.VIEWS:
            inside = views.coordinates_in(node, at)
            if inside is None:
                raise NeedsMemory(value)
            return [(node.inputs[0], inside)]
        if node.op not in FUSIBLE:  # its memory is an output of this kernel
            raise NeedsMemory(value)
        if _changes_width(node):
            source = node.inputs[0]
            if len(source.shape) < len(at):
                return [(source, at[:-1])]
            return [(source, (*at, Affine(k))) for k in range(source.shape[-1])]
        if node.op in elementwise.OPERATIONS:
            # A scalar applies to all elements, as in select and clamp.
            return [(operand, at if operand.shape else ()) for operand in node.inputs]
        if node.op in ("dynamic_slice", "short_reduce"):
            return [(scalar, ()) for scalar in node.inputs[1:]]
        return []

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
        if _changes_width(node):
            return self.define(element.math, self._bits(node, at, arguments))
        self.require_headers(elementwise.header_of(node))
        return self.define(element.math, elementwise.expression(node, arguments))

    def load(self, view: View, at: Coordinates) -> str:
        """Load an element from memory and return its name."""
        place = dot(at, view.strides) + view.offset
        self.require_headers(view.element.header)
        number = self.argument(view.buffer, view.element)
        self.loads.append((number, view, place))
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
            return self._part(node, at)
        name = self.variable(element)
        begin = 0
        parts: list[tuple[int, list[Statement]]] = []  # the end of each part, and what it does
        for part in node.inputs:
            if part.shape[dim]:
                inside = tuple(c + -begin if d == dim else c for d, c in enumerate(at))
                begin += part.shape[dim]
                self.size += 2  # the condition, and its block
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

    def _part(self, node: Node, at: Coordinates) -> Operand:
        """Return an element of a concatenation at a constant coordinate."""
        dim = node.attributes["dimension"]
        place = at[dim].constant
        for part in node.inputs:
            if place < part.shape[dim]:
                inside = (*at[:dim], Affine(place), *at[dim + 1 :])
                return self.value(part, inside)
            place -= part.shape[dim]
        raise AssertionError(f"{node} has no element {at[dim].constant}")

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


def _changes_width(node: Node) -> bool:
    return node.op == "bitcast_convert" and len(node.inputs[0].shape) != len(node.output.shape)


def clamped(start: Operand, element: Element, room: int) -> Term:
    """Return a slice's start clamped to [0, room], as an i64."""
    if element.kind == "uint":
        return Term(f"(i64)min_of((u64){{0}}, {room}ul)", (start,))
    return Term(f"max_of(min_of((i64){{0}}, {room}l), 0l)", (start,))
