"""Write the source of a row kernel: the passes along each row, and the reductions between lanes."""

from __future__ import annotations

import math
import re
from collections import Counter

from .affine import dot
from .elementwise import store
from .kernel_writer import (
    Kernel,
    KernelBody,
    Output,
    Target,
    Team,
    assemble_kernel,
    declare_coordinates,
    index_type,
    loop_over,
    substitute_positions,
    tile_number,
)
from .row_fusion import CachedValue, Pass, PendingRowKernel, RowReduction
from .space import Loops, counters, join

# Independent accumulators per lane hide the latency of an update. An element with a longer text has one
# accumulator, because the text is compiled once for each.
_ACCUMULATORS, _SHORT_TEXT = 4, 1000


def _team(columns: int, target: Target) -> Team:
    """Return the items that share a row: a group for long rows on GPUs, so that caches hold the row."""
    group = target.lanes * target.sub_groups
    if target.gpu and columns >= group:
        return Team(group, str(group), "local_id()")
    return Team(target.lanes)


def write_row_kernel(kernel: PendingRowKernel, target: Target) -> Kernel:
    """Write the source of a row kernel: a sub-group, or a work-group, computes each row."""
    emitter = kernel.emitter
    stored = [_store(kernel, output) for output in kernel.outputs]
    reductions = {
        number: [
            _store(kernel, Output(f"f{number}_{k}", view)) for k, view in reduction.stored_results
        ]
        for walk in kernel.passes
        for number, reduction, _ in walk.reductions
    }
    shape = kernel.shape
    index = index_type(emitter, math.prod(shape))
    loops = join(shape, emitter.positions, len(kernel.rows))
    rows, columns = math.prod(kernel.rows), math.prod(kernel.columns)
    team = _team(columns, target)
    steps = -(-columns // team.items)
    height = max(1, min(target.tile(rows * steps) // steps, rows))
    text = _BodyWriter(loops, index, columns, target, team)
    text.declare_cache(kernel.cached)
    text.add(
        f"for ({index} row = tile * ({index})height, "
        f"last = min_of(row + ({index})height, ({index})rows); row < last; ++row) {{"
    )
    text.lines += declare_coordinates(loops.sizes[: loops.leading], "row", index)
    at = 0
    outside = len([o for walk in kernel.passes for o in walk.outputs])
    for walk in kernel.passes:
        own = stored[at : at + len(walk.outputs)]
        at += len(walk.outputs)
        accumulators = text.walk(walk, own)
        for number, reduction, _ in walk.reductions:
            text.reduce(number, reduction, accumulators, reductions[number])
        for lines, _ in walk.after:
            text.once(lines, stored[outside])
            outside += 1
    text.add("}")
    tiles = -(-rows // height)
    tile = tile_number(target, index)
    if team.items > target.lanes:
        tile = f"  const {index} tile = ({index})group_id();"
        tiles *= target.sub_groups
    body = KernelBody([tile, *text.lines], ["rows", "height"], [rows, height], tiles)
    return assemble_kernel(emitter, body, _views(kernel), target, in_place=[])


def _views(kernel: PendingRowKernel) -> list:
    views = [output.view for output in kernel.outputs]
    reductions = [stage for stage in kernel.stages if isinstance(stage, RowReduction)]
    return views + [view for reduction in reductions for _, view in reduction.stored_results]


def _store(kernel: PendingRowKernel, output: Output) -> str:
    view = output.view
    place = dot(counters(view.shape), view.strides) + view.offset + output.shift
    number = kernel.emitter.argument(view.buffer, view.element)
    return f"x{number}[{kernel.emitter.position(place)}] = {store(view.element, output.name)};"


# A definition, the assigned names of a statement, and names that may differ between the elements of a row.
_DEFINITION = re.compile(r"[\w<>]+ (v\d+) = (.*);")
_ASSIGNED = re.compile(r"\b(v\d+) = ")
_VARYING = re.compile(r"\b(?:v\d+|x\d+|k\d+|cached\d+)\b|@")


def _by_row(lines: list[str]) -> tuple[list[str], list[str]]:
    """Separate the definitions that depend on the row alone from the other statements of a pass."""
    once: list[str] = []
    each: list[str] = []
    names: set[str] = set()
    assigned = Counter(name for line in lines for name in _ASSIGNED.findall(line))
    for line in lines:
        found = _DEFINITION.fullmatch(line)
        is_constant = found and assigned[found[1]] == 1
        if found and is_constant and set(_VARYING.findall(found[2])) <= names:
            names.add(found[1])
            once.append(line)
        else:
            each.append(line)
    return once, each


class _BodyWriter:
    """Writes the body of a row kernel."""

    def __init__(self, loops: Loops, index: str, columns: int, target: Target, team: Team) -> None:
        self.loops, self.index, self.columns = loops, index, columns
        self.target, self.team = target, team
        self.lines: list[str] = []
        self.walks = 0
        trailing = loops.sizes[loops.leading :]
        self.row_names: dict[int | str, str] = {dim: f"d{dim}" for dim in range(loops.leading)}
        # Coordinates of several column dimensions are computed by division.
        self.several = len(trailing) > 1
        self.names = dict(self.row_names)
        for number in range(len(trailing)):
            self.names[loops.leading + number] = f"q{number}" if self.several else "c"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def declare_cache(self, values: list[CachedValue]) -> None:
        """Declare local memory for cached values: each work-item reads only what it wrote itself."""
        if not values:
            return
        rows = self.target.sub_groups if self.team.items == self.target.lanes else 1
        own = f"sub_group_broadcast(sub_group_id()) * {self.columns}" if rows > 1 else "0"
        self.add(f"const i32 row_offset = {own};")
        for value in values:
            self.add(f"static Local<{value.element.math}, {rows * self.columns}> {value.name};")

    def walk(self, walk: Pass, stores: list[str]) -> int:
        """Write a pass along the row; return its number of accumulators."""
        if not walk.reductions and not stores:
            return 0
        number = self.walks
        self.walks += 1
        once, each = _by_row(walk.lines)
        self.lines += once
        accumulators = self._accumulators(walk)
        for reduction_number, reduction, _ in walk.reductions:
            members = " ".join(f"{e.math} s{k};" for k, e in enumerate(reduction.elements))
            self.add(f"struct S{reduction_number} {{ {members} }};")
            start = f"S{reduction_number}{{{', '.join(reduction.identities)}}}"
            starts = ", ".join([start] * accumulators)
            self.add(f"S{reduction_number} a{reduction_number}[{accumulators}] = {{{starts}}};")
        states = "".join(f", S{n}& t{n}" for n, _, _ in walk.reductions)
        self.add(
            f"auto element{number} = [&]({self.index} c{states}) __attribute__((always_inline)) {{"
        )
        if self.several:
            coordinate_lines = declare_coordinates(
                self.loops.sizes[self.loops.leading :], "c", self.index
            )
            self.lines += [line.replace(" d", " q", 1) for line in coordinate_lines]
        self.lines += substitute_positions(each + stores, self.loops.positions, self.names)
        for reduction_number, reduction, update in walk.reductions:
            names = " ".join(
                f"auto& s{k} = t{reduction_number}.s{k};" for k in range(len(reduction.elements))
            )
            self.add(f"{{ {names}")
            self.add(update)
            self.add("}")
        self.add("};")
        self._loop(number, [n for n, _, _ in walk.reductions], accumulators)
        return accumulators

    def _accumulators(self, walk: Pass) -> int:
        length = sum(map(len, walk.lines)) + sum(len(update) for _, _, update in walk.reductions)
        enough = self.columns >= _ACCUMULATORS * self.team.items
        return _ACCUMULATORS if walk.reductions and enough and length <= _SHORT_TEXT else 1

    def _loop(self, number: int, reductions: list[int], accumulators: int) -> None:
        def call(accumulator: int) -> str:
            team = self.team
            place = (
                f"e + {team.own}"
                if accumulator == 0
                else f"e + {accumulator} * {team.count} + {team.own}"
            )
            states = "".join(f", a{n}[{accumulator}]" for n in reductions)
            return f"element{number}({place}{states});"

        index, columns = self.index, self.columns
        if accumulators > 1:
            calls = " ".join(call(accumulator) for accumulator in range(accumulators))
            step = f"{accumulators} * {self.team.count}"
            self.add(f"{{ {index} e = 0;")
            self.add(
                f"{self.target.vector_loop} (; e + {step} <= {columns}; e += {step}) {{ {calls} }} }}"
            )
        left = columns % (accumulators * self.team.items) if accumulators > 1 else columns
        if left:
            first = str(columns - left)
            self.lines += loop_over(
                call(0), index, left, self.target, first, str(columns), self.team
            )

    def reduce(
        self, number: int, reduction: RowReduction, accumulators: int, stores: list[str]
    ) -> None:
        """Combine the lanes' partial results, and compute and store the results."""
        left = " ".join(f"auto& s{k} = a.s{k};" for k in range(len(reduction.elements)))
        right = " ".join(
            f"[[maybe_unused]] auto& r{k} = b.s{k};" for k in range(len(reduction.elements))
        )
        self.add(f"auto both{number} = [](S{number} a, S{number} b) {{ {left} {right}")
        self.add(reduction.combine)
        self.add("return a; };")
        for accumulator in range(1, accumulators):
            self.add(f"a{number}[0] = both{number}(a{number}[0], a{number}[{accumulator}]);")
        together = f"sub_group_reduce(a{number}[0], both{number})"
        if self.team.items > self.target.lanes:
            start = f"S{number}{{{', '.join(reduction.identities)}}}"
            together = f"group_reduce(a{number}[0], both{number}, {start})"
        self.add(f"S{number} w{number} = {together};")
        for k, element in enumerate(reduction.elements):
            self.add(f"{element.math} f{number}_{k};")
        names = " ".join(
            f"[[maybe_unused]] auto& s{k} = w{number}.s{k};" for k in range(len(reduction.elements))
        )
        ends = " ".join(f"f{number}_{k} = {text};" for k, text in enumerate(reduction.finish))
        self.add(f"{{ {names} {ends} }}")
        self._store_once(stores)

    def once(self, lines: list[str], store: str) -> None:
        """Write statements that run once per row."""
        self.add("{")
        self.lines += substitute_positions(lines, self.loops.positions, self.row_names)
        self._store_once([store])
        self.add("}")

    def _store_once(self, stores: list[str]) -> None:
        if not stores:
            return
        text = " ".join(substitute_positions(stores, self.loops.positions, self.row_names))
        self.add(f"if ({self.team.own} == 0) {{ {text} }}")
