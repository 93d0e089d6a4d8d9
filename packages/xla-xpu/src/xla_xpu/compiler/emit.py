"""Emit the statements that compute one element of a fused computation, in the device library's language.

A statement holds the placeholder ``@3@`` for position number 3, because the loops are chosen only when all
positions are known (see kernel_writer.py).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from contextlib import contextmanager
from copy import copy
from dataclasses import dataclass, field, fields

from . import elementwise, views
from .affine import Affine, Coordinates, dot
from .conversions import bits_of, of_bits
from .graph import Node, Value
from .plan import Buffer, View
from .regions import region_text
from .types import Element

# Operations that can be fused, besides elementwise operations and views.
STRUCTURAL = frozenset(["constant", "iota", "pad", "concatenate", "dynamic_slice", "short_reduce"])
FUSIBLE = elementwise.OPERATIONS | views.VIEWS | STRUCTURAL

Key = tuple[Value, Coordinates]


# The maximum number of arrays that a kernel reads and writes.
MAX_BUFFERS = 36
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


@dataclass
class Emitter:
    """The statements so far. ``locate`` returns the view of a value, or None to compute it here."""

    locate: Callable[[Value], View | None]
    max_buffers: int = MAX_BUFFERS
    buffers: list[tuple[Buffer, Element]] = field(default_factory=list)
    positions: list[Affine] = field(default_factory=list)
    loads: list[tuple[int, View, Affine]] = field(default_factory=list)
    lines: list[str] = field(default_factory=list)
    element_names: dict[Key, str] = field(default_factory=dict)
    expression_names: dict[tuple[str, str], str] = field(default_factory=dict)
    name_count: int = 0
    depth: int = 0
    # The number of statements and loads of each value that is computed here.
    work: dict[Value, int] = field(default_factory=dict)
    registers: dict[Value, Callable[[Coordinates], str]] = field(default_factory=dict)
    cached: dict[Key, Callable[[], str]] = field(
        default_factory=dict
    )  # readers of elements in local memory
    stores: list[tuple[int, View]] = field(default_factory=list)  # arrays that statements write
    complex: bool = False
    irregular: bool = False  # uses positions other than in loads: counters as values, conditions

    def copy(self, locate: Callable[[Value], View | None]) -> Emitter:
        """Return an independent emitter with the same statements, which finds values by ``locate``."""
        copied = {
            field.name: copy(getattr(self, field.name))
            for field in fields(self)
            if field.name != "locate"
        }
        return Emitter(locate, **copied)

    def value(self, value: Value, at: Coordinates) -> str:
        """Return the name of a value's element at ``at``; add the statements that compute it."""
        target = (value, at)
        self.depth += 1
        stack: list[Key] = [target]
        # Where each key's statements begin, and whether it has any; how many of those are still undefined.
        begun: dict[Key, tuple[int, bool]] = {}
        unwritten = 0
        while stack:
            key = stack[-1]
            if key in self.element_names:
                stack.pop()
                continue
            if self.depth > _MAX_DEPTH and self._computes(key[0]):
                raise NeedsMemory(key[0])
            if key not in begun:
                begun[key] = len(self.lines) + len(self.loads), self._computes(key[0])
                unwritten += begun[key][1]
                if unwritten > MAX_LINES:
                    # It is certainly too large, and finding out now is cheaper than after emitting it. Fewer
                    # values fit beside loads, so the value at three quarters gets memory.
                    path = [
                        k[0]
                        for k, (_, makes) in begun.items()
                        if makes and k not in self.element_names
                    ]
                    raise NeedsMemory(path[MAX_LINES * 3 // 4])
            needs = self._needs(*key)
            if len(self.lines) > MAX_LINES:
                raise TooLarge
            missing = [need for need in needs if need not in self.element_names]
            if missing:
                stack.extend(missing)
                continue
            stack.pop()
            self.element_names[key] = self._define(
                *key, [self.element_names[need] for need in needs]
            )
            begin, computes = begun[key]
            if computes:
                unwritten -= 1
                done = len(self.lines) + len(self.loads) - begin
                self.work[key[0]] = max(done, self.work.get(key[0], 0))
        self.depth -= 1
        return self.element_names[target]

    def _computes(self, value: Value) -> bool:
        """Return True if statements compute the value."""
        if value.node is None or value in self.registers or value.op in ("constant", "iota"):
            return False
        return value.op not in views.VIEWS and self.locate(value) is None

    def position(self, at: Affine) -> str:
        """Return the placeholder of a position."""
        if at not in self.positions:
            self.positions.append(at)
        return f"@{self.positions.index(at)}@"

    def argument(self, buffer: Buffer, element: Element) -> int:
        """Return the number of the kernel argument for a buffer as an element type; add it if needed."""
        pair = (buffer.root, element)
        if pair not in self.buffers:
            if len(self.buffers) >= self.max_buffers:
                raise TooLarge
            self.buffers.append(pair)
        return self.buffers.index(pair)

    # -- operands and definitions of elements

    def _needs(self, value: Value, at: Coordinates) -> list[Key]:
        if (value, at) in self.cached or value in self.registers:
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

    def _define(self, value: Value, at: Coordinates, arguments: list[str]) -> str:
        element = value.type.element
        self.complex |= element.kind == "complex"
        if value in self.registers:
            return self.registers[value](at)
        if (value, at) in self.cached:
            return self.cached[value, at]()
        view = self.locate(value)
        if view is not None:
            return self.load(view, at)
        node = value.node
        assert node is not None
        if node.op in views.VIEWS:
            return arguments[0]
        if node.op == "constant":
            return elementwise.literal(node.attributes["value"].reshape(-1)[0], element)
        if node.op == "iota":
            self.irregular = True
            counter = self.position(at[node.attributes["iota_dimension"]])
            return self._name(element, f"{element.math}({counter})")
        if node.op == "pad":
            return self._pad(node, at)
        if node.op == "concatenate":
            return self._concatenate(node, at)
        if node.op == "dynamic_slice":
            return self._dynamic_slice(node, at, arguments)
        if node.op == "short_reduce":
            return self._short_reduce(node, at, arguments[0])
        if _changes_width(node):
            return self._name(element, self._bits(node, at, arguments))
        return self._name(element, elementwise.expression(node, arguments))

    def define(self, type: str, text: str) -> str:
        """Declare a variable of this value and return its name; equal texts share a variable."""
        name = self.expression_names.get((type, text))
        if name is None:
            self.name_count += 1
            name = self.expression_names[type, text] = f"v{self.name_count}"
            self.lines.append(f"{type} {name} = {text};")
        return name

    def _name(self, element: Element, text: str) -> str:
        return self.define(element.math, text)

    def load(self, view: View, at: Coordinates) -> str:
        """Load an element from memory and return its name."""
        element = view.element
        place = dot(at, view.strides) + view.offset
        number = self.argument(view.buffer, element)
        self.loads.append((number, view, place))
        text = f"x{number}[{self.position(place)}]"
        return self._name(element, elementwise.load(element, text))

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Limit names that are defined in the block to the block, as braces do."""
        element_names, self.element_names = self.element_names, dict(self.element_names)
        expression_names, self.expression_names = (
            self.expression_names,
            dict(self.expression_names),
        )
        yield
        self.element_names, self.expression_names = element_names, expression_names

    def new_name(self, letter: str = "v") -> str:
        """Return a name that no other statement of this kernel uses."""
        self.name_count += 1
        return f"{letter}{self.name_count}"

    def variable(self, element: Element, first: str = "") -> str:
        """Declare a new variable, optionally with an initial value."""
        name = self.new_name()
        self.lines.append(f"{element.math} {name}{' = ' if first else ''}{first};")
        return name

    def _set(self, name: str, value: Value, at: Coordinates) -> None:
        with self.scope():
            self.lines.append(f"{name} = {self.value(value, at)};")

    def _pad(self, node: Node, at: Coordinates) -> str:
        self.irregular = True
        element = node.output.type.element
        padding = self.value(node.inputs[1], ())
        inside, conditions = [], []
        interior = node.attributes["interior_padding"]
        for dim, low in enumerate(node.attributes["edge_padding_low"]):
            size, step = node.inputs[0].shape[dim], interior[dim] + 1
            if low == 0 and step == 1 and size == node.output.shape[dim]:
                inside.append(at[dim])
                continue
            place = self.position(at[dim] + -low)
            if step == 1:
                conditions.append(f"(u64)(i64)({place}) < {size}ul")
                inside.append(at[dim] + -low)
            else:
                conditions.append(
                    f"({place}) >= 0 && ({place}) % {step} == 0 && ({place}) / {step} < {size}"
                )
                inside.append(Affine.of(self.define("i64", f"({place}) / {step}")))
        name = self.variable(element)
        self.lines.append(f"if ({' && '.join(conditions) or 'true'}) {{")
        self._set(name, node.inputs[0], tuple(inside))
        self.lines.append(f"}} else {name} = {padding};")
        return name

    def _concatenate(self, node: Node, at: Coordinates) -> str:
        self.irregular = True
        element, dim = node.output.type.element, node.attributes["dimension"]
        if not at[dim].terms:
            return self._part(node, at)
        name = self.variable(element)
        begin = 0
        parts = [part for part in node.inputs if part.shape[dim]]
        for part in parts:
            end = begin + part.shape[dim]
            last = part is parts[-1] and end == node.output.shape[dim]
            condition = "" if last else f"if ({self.position(at[dim])} < {end}) "
            self.lines.append(f"{condition}{{")
            inside = tuple(c + -begin if d == dim else c for d, c in enumerate(at))
            self._set(name, part, inside)
            self.lines.append("}" if last else "} else")
            begin = end
        return name

    def _short_reduce(self, node: Node, at: Coordinates, start: str) -> str:
        """Emit a reduction of few elements as loops of one lane."""
        self.irregular = True
        name = self.variable(node.output.type.element, start)
        rest, inside, dims = iter(at), [], node.attributes["dimensions"]
        for dim, size in enumerate(node.inputs[0].shape):
            if dim in dims:
                counter = self.new_name("k")
                self.lines.append(f"for (i32 {counter} = 0; {counter} < {size}; ++{counter}) {{")
                inside.append(Affine.of(counter))
            else:
                inside.append(next(rest))
        with self.scope():
            element = self.value(node.inputs[0], tuple(inside))
            lines, results = region_text(node.regions[0], [name, element])
            self.lines += [*lines, f"{name} = {results[0]};"]
        self.lines.append("}" * len(dims))
        return name

    def _part(self, node: Node, at: Coordinates) -> str:
        """Return an element of a concatenation at a constant coordinate."""
        dim = node.attributes["dimension"]
        place = at[dim].constant
        for part in node.inputs:
            if place < part.shape[dim]:
                inside = (*at[:dim], Affine(place), *at[dim + 1 :])
                return self.value(part, inside)
            place -= part.shape[dim]
        raise AssertionError(f"{node} has no element {at[dim].constant}")

    def _bits(self, node: Node, at: Coordinates, parts: list[str]) -> str:
        """Return a part of a wide element, or a wide element of its parts; the lowest bits come first."""
        source, element = node.inputs[0].type.element, node.output.type.element
        if len(at) > len(node.inputs[0].shape):
            self.irregular = True
            place = f"({self.position(at[-1])}) * {element.bits}"
            return of_bits(element, f"{bits_of(source, parts[0])} >> ({place})")
        whole = f"u{element.bits}"
        texts = [
            f"({whole}){bits_of(source, part)} << {k * source.bits}" for k, part in enumerate(parts)
        ]
        return of_bits(element, " | ".join(texts))

    def _dynamic_slice(self, node: Node, at: Coordinates, starts: list[str]) -> str:
        source = node.inputs[0]
        inside = []
        for dim, (start, size) in enumerate(
            zip(starts, node.attributes["slice_sizes"], strict=True)
        ):
            room = source.shape[dim] - size
            if room == 0:
                inside.append(at[dim])
                continue
            self.irregular = True
            name = f"v{self.name_count + 1}"
            self.name_count += 1
            self.lines.append(
                f"i64 {name} = {clamped(start, node.inputs[1 + dim].type.element, room)};"
            )
            inside.append(at[dim] + Affine.of(name))
        return self.value(source, tuple(inside))


def _changes_width(node: Node) -> bool:
    return node.op == "bitcast_convert" and len(node.inputs[0].shape) != len(node.output.shape)


def clamped(start: str, element: Element, room: int) -> str:
    """Return a slice's start clamped to [0, room], as an i64."""
    if element.kind == "uint":
        return f"(i64)min_of((u64){start}, {room}ul)"
    return f"max_of(min_of((i64){start}, {room}l), 0l)"
