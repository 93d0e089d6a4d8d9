"""Walks over the elements that a kernel computes: they find what it reads and how large it is.

Decisions are made on walks, before any statement is written: which values get memory, and which kernels are
fused. ``emit`` then writes the statements in the order of the walk.
"""

from __future__ import annotations

from collections.abc import Callable, Hashable, Iterator
from contextlib import contextmanager

from xpu_runtime.codegen.affine import Affine, Coordinates, dot
from xpu_runtime.codegen.kernel import MAX_ARGUMENTS

from . import views
from .graph import Node, Value
from .operands import Key, changes_width, operands_of, part_of
from .plan import Buffer, View

Locate = Callable[[Value], View | None]
# Whether a kernel has an element of a value in registers.
HasElement = Callable[[Coordinates], bool]

# The maximum number of arrays that a kernel reads and writes. Other arguments are sizes and shared offsets.
MAX_BUFFERS = MAX_ARGUMENTS - 4
# A kernel of more statements takes too long to compile.
MAX_LINES = 600
# The maximum nesting of conditions and loops.
_MAX_DEPTH = 8


class Walk:
    """The elements that a kernel computes. ``locate`` returns a value's view, or None to compute it here.

    The walk ends at a value that must be in memory first, ``missing``, for example because its positions are
    not affine; or if it ``is_too_large``: it reads more arrays than a kernel takes arguments, or has too many
    statements.
    """

    def __init__(self, locate: Locate, max_arrays: int = MAX_BUFFERS) -> None:
        self.locate, self.max_arrays = locate, max_arrays
        self.registers: dict[Value, HasElement] = {}
        self.visited: set[Key] = set()
        self.loaded: set[Hashable] = set()
        self.arrays: set[tuple[Buffer, str]] = set()
        self.loads: list[tuple[View, Affine]] = []
        self.reads: dict[Value, View] = {}  # what was found in memory
        self.size = 0  # the number of statements
        # The number of statements and loads of each value that is computed here.
        self.work: dict[Value, int] = {}
        # False if accesses depend on conditions, loops or data, or numbers on positions.
        self.is_regular = True
        self.missing: Value | None = None
        self.is_too_large = False
        self._depth = 0
        self._names: dict[Hashable, str] = {}

    def copy(self, locate: Locate) -> Walk:
        """Return an independent walk that has visited the same elements, and goes on with ``locate``."""
        copied = type(self).__new__(type(self))
        for name, value in vars(self).items():
            changes = isinstance(value, (dict, list, set))
            setattr(copied, name, value.copy() if changes else value)
        copied.locate = locate
        return copied

    @property
    def is_possible(self) -> bool:
        """True if one kernel can compute all elements visited so far."""
        return self.missing is None and not self.is_too_large

    @property
    def read_buffers(self) -> list[Buffer]:
        """The buffers that the kernel reads."""
        return list(dict.fromkeys(view.buffer for view, _ in self.loads))

    def visit(self, value: Value, at: Coordinates) -> None:
        """Visit an element, and before it those from which it is computed."""
        self._depth += 1
        stack: list[Key] = [(value, at)]
        begun: dict[Key, int] = {}  # the work that was done before each key's
        unfinished = 0
        while stack and self.is_possible:
            key = stack[-1]
            if key in self.visited:
                stack.pop()
            elif key in begun:
                stack.pop()
                unfinished -= _computes(key[0])
                self._finish(*key, begun[key])
            else:
                operands = self._begin(*key)
                if operands is None:
                    stack.pop()
                    continue
                begun[key] = self.size + len(self.loads)
                unfinished += _computes(key[0])
                if unfinished > MAX_LINES:
                    # Certainly too large. Fewer fit beside loads: the value at three quarters gets memory.
                    path = [k[0] for k in begun if k not in self.visited and _computes(k[0])]
                    self.missing = path[MAX_LINES * 3 // 4]
                stack += [operand for operand in operands if operand not in self.visited]
        self._depth -= 1

    def add_array(self, view: View) -> None:
        """Add an array that the kernel accesses."""
        array = view.buffer.root, view.element.name
        if array not in self.arrays:
            self.is_too_large |= len(self.arrays) >= self.max_arrays
            self.arrays.add(array)

    def load(self, view: View, at: Coordinates) -> None:
        """Add the load of an element."""
        place = dot(at, view.strides) + view.offset
        self.add_array(view)
        self.loads.append((view, place))
        if place.variables:
            self.is_regular = False
        key = view.buffer.root, view.element.name, place
        if key not in self.loaded:
            self.loaded.add(key)
            self.size += 1

    @contextmanager
    def scope(self) -> Iterator[None]:
        """Limit what the block visits to it, as a condition or a loop does."""
        visited, loaded = self.visited, self.loaded
        self.visited, self.loaded = visited.copy(), loaded.copy()
        self.is_regular = False
        yield
        self.visited, self.loaded = visited, loaded

    def _begin(self, value: Value, at: Coordinates) -> list[Key] | None:
        """Return the operands of an element; visit it and return None if it has none."""
        if value in self.registers:
            if self.registers[value](at):
                self.visited.add((value, at))
            else:
                self.missing = value
            return None
        view = self.locate(value)
        if view is not None:
            self.reads[value] = view
            self.visited.add((value, at))
            self.load(view, at)
            return None
        operands = None if value.node is None else operands_of(value.node, at)
        if operands is None or (self._depth > _MAX_DEPTH and _computes(value)):
            self.missing = value
            return None
        self.is_too_large |= self.size > MAX_LINES
        return operands

    def _finish(self, value: Value, at: Coordinates, before: int) -> None:
        """Count the statements of an element whose operands were visited."""
        node = value.node
        assert node is not None
        if node.op in _SCOPED:
            _SCOPED[node.op](self, node, at)
            if not self.is_possible:
                return
        elif node.op == "iota" or changes_width(node):
            self.is_regular = False
            self.size += 1
        elif _computes(value):
            self.size += 1
        self.visited.add((value, at))
        if _computes(value):
            done = self.size + len(self.loads) - before
            self.work[value] = max(done, self.work.get(value, 0))

    def _pad(self, node: Node, at: Coordinates) -> None:
        self.visit(node.inputs[1], ())
        inside = []
        interior = node.attributes["interior_padding"]
        for place, low, gap in zip(at, node.attributes["edge_padding_low"], interior, strict=True):
            moved = place + -low
            inside.append(moved if gap == 0 else self._position((moved, gap)))
        self.size += 4  # the variable, the condition and two assignments
        with self.scope():
            self.visit(node.inputs[0], tuple(inside))

    def _concatenate(self, node: Node, at: Coordinates) -> None:
        dim = node.attributes["dimension"]
        if not at[dim].terms:
            self.visit(*part_of(node, at))
            return
        self.size += 1
        begin = 0
        for part in node.inputs:
            if part.shape[dim]:
                self.size += 3  # the condition, its block and the assignment
                with self.scope():
                    self.visit(part, (*at[:dim], at[dim] + -begin, *at[dim + 1 :]))
                begin += part.shape[dim]

    def _short_reduce(self, node: Node, at: Coordinates) -> None:
        rest, inside = iter(at), []
        for dim in range(len(node.inputs[0].shape)):
            is_reduced = dim in node.attributes["dimensions"]
            inside.append(self._position((node, at, dim)) if is_reduced else next(rest))
        statements = [inner for inner in node.regions[0].nodes if _computes(inner.output)]
        self.size += 2 + len(statements)  # the variable and the assignment too
        with self.scope():
            self.visit(node.inputs[0], tuple(inside))

    def _dynamic_slice(self, node: Node, at: Coordinates) -> None:
        source, inside = node.inputs[0], []
        sizes = node.attributes["slice_sizes"]
        for place, start, whole, size in zip(at, node.inputs[1:], source.shape, sizes, strict=True):
            room = whole - size
            inside.append(place + self._position((start, room)) if room else place)
        self.visit(source, tuple(inside))

    def _position(self, key: Hashable) -> Affine:
        """Return the position that a statement computes."""
        if key not in self._names:
            self._names[key] = f"p{len(self._names)}"
            self.size += 1
        return Affine.of(self._names[key])


_SCOPED: dict[str, Callable[[Walk, Node, Coordinates], None]] = {
    "pad": Walk._pad,
    "concatenate": Walk._concatenate,
    "short_reduce": Walk._short_reduce,
    "dynamic_slice": Walk._dynamic_slice,
}


def _computes(value: Value) -> bool:
    """Return True if statements compute a value that is not in memory."""
    return value.op not in views.VIEWS and value.op not in ("constant", "iota")
