"""Loops whose rounds need only what the same element was in the round before: one kernel, state in registers.

Each lane runs the whole loop for elements of its own. Dimensions that the body mixes, such as the three of
``stack([dx, dy, dz])``, must be short: a lane then has all their elements, each in a variable.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable
from dataclasses import dataclass

from ..affine import Affine, Coordinates, dot
from ..elementwise import store
from ..emit import FUSIBLE, MAX_BUFFERS, Emitter, NeedsMemory, TooLarge, clamped
from ..graph import Graph, Node, Value
from ..kernel_writer import Output
from ..lower import Lowerer
from ..plan import View
from .stacked_outputs import StackedOutput, is_covered, stacked_outputs_of
from .trip_count import TripCount

# More elements than this in a lane would not stay in registers; longer bodies take too long to compile.
_MAX_MIXED, _MAX_LINES = 16, 400


class _ReadsOtherLane(Exception):
    """The body reads another lane's element."""


@dataclass
class _Shape:
    """The loop's elements: ``whole`` shape, the dimensions that lanes share out, and the mixed ones."""

    whole: tuple[int, ...]
    mixed: list[int]

    @property
    def own(self) -> list[int]:
        return [dim for dim in range(len(self.whole)) if dim not in self.mixed]

    @property
    def lanes(self) -> tuple[int, ...]:
        return tuple(self.whole[dim] for dim in self.own)

    def elements(self) -> list[tuple[int, ...]]:
        """The mixed coordinates of what a lane has."""
        return list(itertools.product(*(range(self.whole[dim]) for dim in self.mixed)))

    def at(self, element: tuple[int, ...]) -> Coordinates:
        """The coordinates of a lane's element."""
        coordinates = [Affine()] * len(self.whole)
        for number, dim in enumerate(self.own):
            if self.whole[dim] != 1:
                coordinates[dim] = Affine.of(number)
        for dim, place in zip(self.mixed, element, strict=True):
            coordinates[dim] = Affine(place)
        return tuple(coordinates)


def run_in_registers(lowerer: Lowerer, node: Node, trip_count: TripCount) -> bool:
    """Queue the kernel of such a loop; False when the loop is another kind."""
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
        try:
            lanes.write()
        except _ReadsOtherLane:
            continue
        except (NeedsMemory, TooLarge):
            return False
        if len(lanes.emitter.lines) > _MAX_LINES:
            return False
        if len(lanes.emitter.buffers) + len(in_registers) > MAX_BUFFERS:
            return False
        lanes.finish()
        return True
    return False


def _whole(body: Graph, in_registers: list[int]) -> tuple[int, ...] | None:
    """The one shape of all states that are not scalars."""
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
    """Writes the kernel."""

    lowerer: Lowerer
    node: Node
    trip_count: TripCount
    in_registers: list[int]
    stacked: list[StackedOutput]
    space: _Shape

    def write(self) -> None:
        """The statements: states from memory, the loop, and in it what each round writes."""
        body = self.node.regions[1]
        registers: dict[Value, Callable[[Coordinates], str]] = {}
        self.emitter = emitter = Emitter(self._locate, registers=registers)
        self.names: dict[tuple[int, tuple[int, ...]], str] = {}
        for k in self.in_registers:
            start = self.node.inputs[k]
            for element in self._elements(start):
                name = emitter.variable(start.type.element)
                emitter.lines.append(f"{name} = {emitter.value(start, self._at(start, element))};")
                self.names[k, element] = name
            registers[body.parameters[k]] = self._reader(k)
        counter, count = body.parameters[self.trip_count.state], self.trip_count
        trip = f"({counter.type.element.math})(trip * {count.step} + ({count.first}))"
        registers[counter] = lambda at: trip
        for parameter, result, start in zip(
            body.parameters, body.results, self.node.inputs, strict=True
        ):
            if result is parameter:
                registers[parameter] = self._outside(start)
        for stacked in self.stacked:
            self.lowerer.result(self.node.outputs[stacked.state])
        emitter.lines.append(f"for (i64 trip = 0; trip < {self.trip_count.trips}; ++trip) {{")
        with emitter.scope():
            self._round(body)
        emitter.lines.append("}")

    def _round(self, body: Graph) -> None:
        emitter = self.emitter
        new = {
            (k, element): emitter.value(body.results[k], self._at(body.results[k], element))
            for k, element in self.names
        }
        for stacked in self.stacked:
            self._store(stacked)
        # All of them before any is overwritten.
        held = []
        for (k, _), value in new.items():
            kind = body.results[k].type.element.math
            emitter.name_count += 1
            emitter.lines.append(f"{kind} v{emitter.name_count} = {value};")
            held.append(f"v{emitter.name_count}")
        for key, value in zip(new, held, strict=True):
            emitter.lines.append(f"{self.names[key]} = {value};")

    def _store(self, stacked: StackedOutput) -> None:
        """A round's part of a stacked: lanes write what is theirs of it."""
        emitter, update = self.emitter, stacked.update
        view = self.lowerer.views[self.node.outputs[stacked.state]]
        shift = Affine(view.offset)
        for start, size, whole, stride in zip(
            stacked.starts, update.shape, view.shape, view.strides, strict=True
        ):
            if size != whole:
                first = clamped(emitter.value(start, ()), start.type.element, whole - size)
                shift = shift + Affine.of(emitter.define("i64", first)) * stride
        number = emitter.argument(view.buffer, view.element)
        emitter.stores.append((number, view))
        for at in self._places(update):
            name = emitter.value(update, at)
            place = emitter.position(dot(at, view.strides) + shift)
            emitter.lines.append(f"x{number}[{place}] = {store(view.element, name)};")

    def _places(self, update: Value) -> list[Coordinates]:
        """The coordinates in an update of a lane's elements: it is the states' shape with ones put in."""
        sizes = [size for size in update.shape if size != 1]
        if sizes != [size for size in self.space.whole if size != 1]:
            if not sizes:
                return [(Affine(),) * len(update.shape)]
            raise _ReadsOtherLane
        places = []
        for element in self.space.elements():
            pairs = zip(self.space.at(element), self.space.whole, strict=True)
            rest = iter([c for c, size in pairs if size != 1])
            places.append(tuple(Affine() if size == 1 else next(rest) for size in update.shape))
        return places

    def finish(self) -> None:
        """Queue the kernel; then states lie where the loop's results do."""
        lowerer, node = self.lowerer, self.node
        for stacked in self.stacked:
            if not is_covered(stacked, node.regions[1], self.trip_count):
                lowerer.start(
                    lowerer.views[node.outputs[stacked.state]], node.inputs[stacked.state]
                )
        views = {k: lowerer.result(node.outputs[k]) for k in self.in_registers}
        outputs = [
            Output(name, self._part(views[k], element)) for (k, element), name in self.names.items()
        ]
        lowerer.add_kernel(self.emitter, outputs)
        body = node.regions[1]
        for k, parameter in enumerate(body.parameters):
            if body.results[k] is parameter:
                lowerer.views[node.outputs[k]] = lowerer.materialize(node.inputs[k])
        self._leave_counter()

    def _outside(self, value: Value) -> Callable[[Coordinates], str]:
        return lambda at: self.emitter.value(value, at)

    def _part(self, view: View, element: tuple[int, ...]) -> View:
        """What lanes write of a state; a scalar is written by all of them."""
        if not view.shape:
            return view.with_layout(self.space.lanes, (0,) * len(self.space.lanes))
        offset = sum(p * view.strides[d] for d, p in zip(self.space.mixed, element, strict=True))
        strides = tuple(view.strides[dim] for dim in self.space.own)
        return view.with_layout(self.space.lanes, strides, offset)

    def _leave_counter(self) -> None:
        """What the counter ends as, for whoever reads it."""
        output = self.node.outputs[self.trip_count.state]
        number = output.type.element.numpy.type(self.trip_count.last)
        self.lowerer.fill(number, self.lowerer.result(output))

    def _elements(self, value: Value) -> list[tuple[int, ...]]:
        return self.space.elements() if value.shape else [()]

    def _at(self, value: Value, element: tuple[int, ...]) -> Coordinates:
        return self.space.at(element) if value.shape else ()

    def _reader(self, k: int) -> Callable[[Coordinates], str]:
        places = {
            self._at(self.node.inputs[k], e): name for (j, e), name in self.names.items() if j == k
        }

        def read(at: Coordinates) -> str:
            if at not in places:
                raise _ReadsOtherLane
            return places[at]

        return read

    def _locate(self, value: Value) -> View | None:
        return self.lowerer.find_view(value)
