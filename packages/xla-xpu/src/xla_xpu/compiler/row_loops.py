"""Writes the kernel of a task of rows: passes along each row, folds between lanes, what follows for a row."""

from __future__ import annotations

import math
import re
from collections import Counter

from .affine import dot
from .elementwise import store
from .loops import (
    Kernel,
    Output,
    Target,
    Team,
    Walk,
    along,
    divided,
    index_type,
    placed,
    tile_number,
    written,
)
from .rows import CachedValue, Fold, Pass, RowTask
from .space import Loops, counters, join

# Independent accumulators of a lane, so that one need not wait for the last; but one where an element's
# text is long, which is compiled once for each and takes long enough by itself.
_WAYS, _SHORT_TEXT = 4, 1000


def _team(columns: int, target: Target) -> Team:
    """Return the items that share a row: a group for long rows on GPUs, so that caches hold the row."""
    group = target.lanes * target.sub_groups
    if target.gpu and columns >= group:
        return Team(group, str(group), "local_id()")
    return Team(target.lanes)


def row_kernel(task: RowTask, target: Target) -> Kernel:
    """The kernel of a task of rows: a sub-group, or a group, for each row."""
    emitter = task.emitter
    stored = [_store(task, output) for output in task.outputs]
    folds = {
        number: [_store(task, Output(f"f{number}_{k}", view)) for k, view in fold.stored]
        for walk in task.passes
        for number, fold, _ in walk.folds
    }
    shape = task.shape
    index = index_type(emitter, math.prod(shape))
    loops = join(shape, emitter.positions, len(task.rows))
    rows, columns = math.prod(task.rows), math.prod(task.columns)
    team = _team(columns, target)
    steps = -(-columns // team.items)
    height = max(1, min(target.tile(rows * steps) // steps, rows))
    text = _Text(loops, index, columns, target, team)
    text.declare_cache(task.cached)
    text.add(
        f"for ({index} row = tile * ({index})height, "
        f"last = min_of(row + ({index})height, ({index})rows); row < last; ++row) {{"
    )
    text.lines += divided(loops.sizes[: loops.leading], "row", index)
    at = 0
    outside = len([o for walk in task.passes for o in walk.outputs])
    for walk in task.passes:
        own = stored[at : at + len(walk.outputs)]
        at += len(walk.outputs)
        ways = text.walk(walk, own)
        for number, fold, _ in walk.folds:
            text.fold(number, fold, ways, folds[number])
        for lines, _ in walk.after:
            text.once(lines, stored[outside])
            outside += 1
    text.add("}")
    tiles = -(-rows // height)
    tile = tile_number(target, index)
    if team.items > target.lanes:
        tile = f"  const {index} tile = ({index})group_id();"
        tiles *= target.sub_groups
    body = Walk([tile, *text.lines], ["rows", "height"], [rows, height], tiles)
    return written(emitter, body, _views(task), target, in_place=[])


def _views(task: RowTask) -> list:
    views = [output.view for output in task.outputs]
    folds = [stage for stage in task.stages if isinstance(stage, Fold)]
    return views + [view for fold in folds for _, view in fold.stored]


def _store(task: RowTask, output: Output) -> str:
    view = output.view
    place = dot(counters(view.shape), view.strides) + view.offset + output.shift
    number = task.emitter.argument(view.buffer, view.element)
    return f"x{number}[{task.emitter.position(place)}] = {store(view.element, output.name)};"


# A definition, what is assigned in a statement, and what in it may differ between the elements of a row.
_DEFINITION = re.compile(r"[\w<>]+ (v\d+) = (.*);")
_ASSIGNED = re.compile(r"\b(v\d+) = ")
_VARYING = re.compile(r"\b(?:v\d+|x\d+|k\d+|cached\d+)\b|@")


def _by_row(lines: list[str]) -> tuple[list[str], list[str]]:
    """Part the definitions that depend on the row alone from the other statements of a pass."""
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


class _Text:
    """The body of the kernel."""

    def __init__(self, loops: Loops, index: str, columns: int, target: Target, team: Team) -> None:
        self.loops, self.index, self.columns = loops, index, columns
        self.target, self.team = target, team
        self.lines: list[str] = []
        self.walks = 0
        trailing = loops.sizes[loops.leading :]
        self.row_names: dict[int | str, str] = {dim: f"d{dim}" for dim in range(loops.leading)}
        # One dimension of columns is walked as it is; several are found by division.
        self.several = len(trailing) > 1
        self.names = dict(self.row_names)
        for number in range(len(trailing)):
            self.names[loops.leading + number] = f"q{number}" if self.several else "c"

    def add(self, line: str) -> None:
        self.lines.append(line)

    def declare_cache(self, values: list[CachedValue]) -> None:
        """Local memory for what passes leave there: each item reads what it wrote itself."""
        if not values:
            return
        rows = self.target.sub_groups if self.team.items == self.target.lanes else 1
        own = f"sub_group_broadcast(sub_group_id()) * {self.columns}" if rows > 1 else "0"
        self.add(f"const i32 row_offset = {own};")
        for value in values:
            self.add(f"static Local<{value.element.math}, {rows * self.columns}> {value.name};")

    def walk(self, walk: Pass, stores: list[str]) -> int:
        """One pass along the row; the number of accumulators."""
        if not walk.folds and not stores:
            return 0
        number = self.walks
        self.walks += 1
        once, each = _by_row(walk.lines)
        self.lines += once
        ways = self._ways(walk)
        for fold_number, fold, _ in walk.folds:
            members = " ".join(f"{e.math} s{k};" for k, e in enumerate(fold.elements))
            self.add(f"struct S{fold_number} {{ {members} }};")
            start = f"S{fold_number}{{{', '.join(fold.identities)}}}"
            self.add(f"S{fold_number} a{fold_number}[{ways}] = {{{', '.join([start] * ways)}}};")
        states = "".join(f", S{n}& t{n}" for n, _, _ in walk.folds)
        self.add(
            f"auto element{number} = [&]({self.index} c{states}) __attribute__((always_inline)) {{"
        )
        if self.several:
            divided_lines = divided(self.loops.sizes[self.loops.leading :], "c", self.index)
            self.lines += [line.replace(" d", " q", 1) for line in divided_lines]
        self.lines += placed(each + stores, self.loops.positions, self.names)
        for fold_number, fold, update in walk.folds:
            names = " ".join(
                f"auto& s{k} = t{fold_number}.s{k};" for k in range(len(fold.elements))
            )
            self.add(f"{{ {names}")
            self.add(update)
            self.add("}")
        self.add("};")
        self._along(number, [n for n, _, _ in walk.folds], ways)
        return ways

    def _ways(self, walk: Pass) -> int:
        length = sum(map(len, walk.lines)) + sum(len(update) for _, _, update in walk.folds)
        enough = self.columns >= _WAYS * self.team.items
        return _WAYS if walk.folds and enough and length <= _SHORT_TEXT else 1

    def _along(self, number: int, folds: list[int], ways: int) -> None:
        def call(way: int) -> str:
            team = self.team
            place = f"e + {team.own}" if way == 0 else f"e + {way} * {team.count} + {team.own}"
            states = "".join(f", a{n}[{way}]" for n in folds)
            return f"element{number}({place}{states});"

        index, columns = self.index, self.columns
        if ways > 1:
            calls = " ".join(call(way) for way in range(ways))
            step = f"{ways} * {self.team.count}"
            self.add(f"{{ {index} e = 0;")
            self.add(
                f"{self.target.each} (; e + {step} <= {columns}; e += {step}) {{ {calls} }} }}"
            )
        left = columns % (ways * self.team.items) if ways > 1 else columns
        if left:
            first = str(columns - left)
            self.lines += along(call(0), index, left, self.target, first, str(columns), self.team)

    def fold(self, number: int, fold: Fold, ways: int, stores: list[str]) -> None:
        """The lanes' parts together, and what becomes of them."""
        left = " ".join(f"auto& s{k} = a.s{k};" for k in range(len(fold.elements)))
        right = " ".join(
            f"[[maybe_unused]] auto& r{k} = b.s{k};" for k in range(len(fold.elements))
        )
        self.add(f"auto both{number} = [](S{number} a, S{number} b) {{ {left} {right}")
        self.add(fold.combine)
        self.add("return a; };")
        for way in range(1, ways):
            self.add(f"a{number}[0] = both{number}(a{number}[0], a{number}[{way}]);")
        together = f"sub_group_reduce(a{number}[0], both{number})"
        if self.team.items > self.target.lanes:
            start = f"S{number}{{{', '.join(fold.identities)}}}"
            together = f"group_reduce(a{number}[0], both{number}, {start})"
        self.add(f"S{number} w{number} = {together};")
        for k, element in enumerate(fold.elements):
            self.add(f"{element.math} f{number}_{k};")
        names = " ".join(
            f"[[maybe_unused]] auto& s{k} = w{number}.s{k};" for k in range(len(fold.elements))
        )
        ends = " ".join(f"f{number}_{k} = {text};" for k, text in enumerate(fold.finish))
        self.add(f"{{ {names} {ends} }}")
        self._store_once(stores)

    def once(self, lines: list[str], store: str) -> None:
        """Statements about the row."""
        self.add("{")
        self.lines += placed(lines, self.loops.positions, self.row_names)
        self._store_once([store])
        self.add("}")

    def _store_once(self, stores: list[str]) -> None:
        if not stores:
            return
        text = " ".join(placed(stores, self.loops.positions, self.row_names))
        self.add(f"if ({self.team.own} == 0) {{ {text} }}")
