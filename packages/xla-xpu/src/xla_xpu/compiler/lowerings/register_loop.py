"""Loops in one kernel with states in registers, if iterations depend only on the same elements.

Each lane runs the whole loop for its own elements. Dimensions that the body mixes, such as the three of
``stack([dx, dy, dz])``, must be short: a lane then has all their elements, each in a variable.
"""

from __future__ import annotations

import itertools
import math
from dataclasses import dataclass

from xpu_runtime.codegen.affine import Affine, Coordinates
from xpu_runtime.codegen.statements import For, Let, Term

from ..emit import Emitter, Reader
from ..graph import Graph, Node, Value
from ..lower import Lowerer
from ..operands import FUSIBLE
from ..pending_kernel import Start
from ..plan import View
from ..walk import MAX_BUFFERS, HasElement, Walk
from .stacked_outputs import StackedOutput, is_covered, stacked_outputs_of
from .trip_count import TripCount

# More elements per lane would not stay in registers; longer bodies take too long to compile.
_MAX_MIXED, _MAX_LINES = 16, 400


@dataclass
class _Shape:
    """The elements of a loop: their shape, whose ``mixed`` dimensions each lane has completely."""

    whole: tuple[int, ...]
    mixed: list[int]

    @property
    def own(self) -> list[int]:
        return [dim for dim in range(len(self.whole)) if dim not in self.mixed]

    @property
    def lanes(self) -> tuple[int, ...]:
        return tuple(self.whole[dim] for dim in self.own)

    def elements(self) -> list[tuple[int, ...]]:
        """Return the mixed coordinates of a lane's elements."""
        return list(itertools.product(*(range(self.whole[dim]) for dim in self.mixed)))

    def at(self, element: tuple[int, ...]) -> Coordinates:
        """Return the coordinates of a lane's element."""
        coordinates = [Affine()] * len(self.whole)
        for number, dim in enumerate(self.own):
            if self.whole[dim] != 1:
                coordinates[dim] = Affine.of(number)
        for dim, place in zip(self.mixed, element, strict=True):
            coordinates[dim] = Affine(place)
        return tuple(coordinates)


def run_in_registers(lowerer: Lowerer, node: Node, trip_count: TripCount) -> bool:
    """Add the kernel of a loop; return False if the loop does not fit this form."""
    body = node.regions[1]
    carried = [
        k
        for k, p in enumerate(body.parameters)
        if body.results[k] is not p and k != trip_count.state
    ]
    stacked = stacked_outputs_of(body, carried)
    in_registers = [k for k in carried if k not in stacked]
    shape = _whole(body, in_registers)
    if shape is None or trip_count.trips == 0 or not _fits(body, stacked):
        return False
    for mixed in ([], [dim for dim, size in enumerate(shape) if size <= _MAX_MIXED]):
        space = _Shape(shape, mixed)
        if math.prod(shape[dim] for dim in mixed) * len(in_registers) > 4 * _MAX_MIXED:
            return False
        lanes = _Lanes(lowerer, node, trip_count, in_registers, list(stacked.values()), space)
        walk = lanes.walk()
        if walk is None or walk.missing in body.parameters:
            continue  # the body reads another lane's element
        if not walk.is_possible or walk.size > _MAX_LINES:
            return False
        if len(walk.arrays) + len(stacked) + len(in_registers) > MAX_BUFFERS:
            return False
        lanes.add(walk.reads)
        return True
    return False


def _whole(body: Graph, in_registers: list[int]) -> tuple[int, ...] | None:
    """Return the one shape of all states that are not scalars, or None."""
    shapes = {body.parameters[k].shape for k in in_registers} - {()}
    if len(shapes) > 1 or not in_registers:
        return None
    shape = next(iter(shapes), ())
    return None if 0 in shape else shape


def _fits(body: Graph, stacked: dict[int, StackedOutput]) -> bool:
    writers = [body.results[k].node for k in stacked]
    return all(node.op in FUSIBLE or node in writers for node in body.nodes)


@dataclass
class _Lanes:
    """Writes the kernel of a loop."""

    lowerer: Lowerer
    node: Node
    trip_count: TripCount
    in_registers: list[int]
    stacked: list[StackedOutput]
    space: _Shape

    def walk(self) -> Walk | None:
        """Visit the elements that a lane reads and computes; None if they are another lane's."""
        body, walk = self.node.regions[1], Walk(self.lowerer.find_view)
        places = [self._places(stacked.update) for stacked in self.stacked]
        if None in places:
            return None
        for k in self.in_registers:
            for at in self._coordinates(self.node.inputs[k]):
                walk.visit(self.node.inputs[k], at)
                walk.size += 4  # the variable and its assignments
            walk.registers[body.parameters[k]] = self._coordinates(self.node.inputs[k]).__contains__
        for parameter, start in self._unchanged():
            walk.registers[parameter] = _visit(walk, start)
        walk.registers[body.parameters[self.trip_count.state]] = lambda at: True
        with walk.scope():
            for k in self.in_registers:
                for at in self._coordinates(body.results[k]):
                    walk.visit(body.results[k], at)
            for stacked, coordinates in zip(self.stacked, places, strict=True):
                for start in stacked.starts:
                    walk.visit(start, ())
                for at in coordinates or ():
                    walk.visit(stacked.update, at)
                    walk.size += 1
        return walk

    def write(self, emitter: Emitter) -> list[str]:
        """Emit the loads of states, the loop, and the stores of each iteration; return the states."""
        body, registers = self.node.regions[1], emitter.registers
        self.names: dict[tuple[int, tuple[int, ...]], str] = {}
        for k in self.in_registers:
            start = self.node.inputs[k]
            for element in self._elements(start):
                name = emitter.variable(start.type.element)
                emitter.set(name, emitter.value(start, self._at(start, element)))
                self.names[k, element] = name
            registers[body.parameters[k]] = self._reader(k)
        counter, count = body.parameters[self.trip_count.state], self.trip_count
        trip = emitter.new_name("trip")
        text = f"({counter.type.element.math})({{0}} * {count.step} + ({count.first}))"
        registers[counter] = lambda emitter, at: Term(text, (trip,))
        for parameter, start in self._unchanged():
            registers[parameter] = _value_of(start)
        with emitter.body() as statements:
            self._round(emitter, body)
        emitter.add(For(trip, "i64", "0", str(self.trip_count.trips), statements))
        return list(self.names.values())

    def _unchanged(self) -> list[tuple[Value, Value]]:
        """Return the states that the body does not change, with their values."""
        body = self.node.regions[1]
        triples = zip(body.parameters, body.results, self.node.inputs, strict=True)
        return [(parameter, start) for parameter, result, start in triples if result is parameter]

    def _round(self, emitter: Emitter, body: Graph) -> None:
        new = {
            (k, element): emitter.value(body.results[k], self._at(body.results[k], element))
            for k, element in self.names
        }
        for stacked in self.stacked:
            self._store(emitter, stacked)
        # Saves all new values before any state is overwritten.
        new_names = []
        for (k, _), value in new.items():
            kind = body.results[k].type.element.math
            new_names.append(emitter.new_name())
            emitter.add(Let(new_names[-1], kind, value))
        for key, name in zip(new, new_names, strict=True):
            emitter.set(self.names[key], name)

    def _store(self, emitter: Emitter, stacked: StackedOutput) -> None:
        """Emit the store of an iteration's part of a stacked output: lanes write their own elements."""
        update, view = stacked.update, self.lowerer.views[self.node.outputs[stacked.state]]
        dims = zip(stacked.starts, update.shape, view.shape, view.strides, strict=True)
        shift = emitter.shift(
            [Start(start, whole - n, stride) for start, n, whole, stride in dims if n != whole]
        )
        for at in self._places(update) or ():
            emitter.add(emitter.store_at(view, at, emitter.value(update, at), shift))

    def _places(self, update: Value) -> list[Coordinates] | None:
        """Return a lane's coordinates in an update: the states' shape with dimensions of 1 inserted.

        None if it has another shape.
        """
        sizes = [size for size in update.shape if size != 1]
        if sizes != [size for size in self.space.whole if size != 1]:
            if not sizes:
                return [(Affine(),) * len(update.shape)]
            return None
        places = []
        for element in self.space.elements():
            pairs = zip(self.space.at(element), self.space.whole, strict=True)
            rest = iter([c for c, size in pairs if size != 1])
            places.append(tuple(Affine() if size == 1 else next(rest) for size in update.shape))
        return places

    def add(self, reads: dict[Value, View]) -> None:
        """Add the kernel, which reads ``reads``, and set the views of the loop's results."""
        lowerer, node = self.lowerer, self.node
        stored = [lowerer.result(node.outputs[stacked.state]) for stacked in self.stacked]
        for stacked in self.stacked:
            if not is_covered(stacked, node.regions[1], self.trip_count):
                lowerer.start(
                    lowerer.views[node.outputs[stacked.state]], node.inputs[stacked.state]
                )
        views = {k: lowerer.result(node.outputs[k]) for k in self.in_registers}
        parts = [
            self._part(views[k], element)
            for k in self.in_registers
            for element in self._elements(node.inputs[k])
        ]
        lowerer.add_written(self.write, parts, reads, stored)
        body = node.regions[1]
        for k, parameter in enumerate(body.parameters):
            if body.results[k] is parameter:
                lowerer.views[node.outputs[k]] = lowerer.materialize(node.inputs[k])
        self._leave_counter()

    def _part(self, view: View, element: tuple[int, ...]) -> View:
        """Return the view that lanes write of a state; all lanes write a scalar."""
        if not view.shape:
            return view.with_layout(self.space.lanes, (0,) * len(self.space.lanes))
        offset = sum(p * view.strides[d] for d, p in zip(self.space.mixed, element, strict=True))
        strides = tuple(view.strides[dim] for dim in self.space.own)
        return view.with_layout(self.space.lanes, strides, offset)

    def _leave_counter(self) -> None:
        """Fill the counter's result with its last value."""
        output = self.node.outputs[self.trip_count.state]
        number = output.type.element.numpy.type(self.trip_count.last)
        self.lowerer.fill(number, self.lowerer.result(output))

    def _elements(self, value: Value) -> list[tuple[int, ...]]:
        return self.space.elements() if value.shape else [()]

    def _at(self, value: Value, element: tuple[int, ...]) -> Coordinates:
        return self.space.at(element) if value.shape else ()

    def _coordinates(self, value: Value) -> list[Coordinates]:
        return [self._at(value, element) for element in self._elements(value)]

    def _reader(self, k: int) -> Reader:
        places = {
            self._at(self.node.inputs[k], e): name for (j, e), name in self.names.items() if j == k
        }
        return lambda emitter, at: places[at]


def _value_of(value: Value) -> Reader:
    return lambda emitter, at: emitter.value(value, at)


def _visit(walk: Walk, value: Value) -> HasElement:
    def has(at: Coordinates) -> bool:
        walk.visit(value, at)
        return True

    return has
