"""Write a row kernel: the loops along each row, and the reductions between lanes."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .access import load_template
from .blocked_sums import (
    HEADER,
    declare_sums,
    define_both,
    finish,
    loop_in_blocks,
    needs_blocks,
    updated,
)
from .comments import without_comments
from .division import Division
from .hoist import hoist
from .loops import MIN_INNER, Loops, join
from .program import Cache, Fold, LoopProgram, Section
from .render import Renderer
from .row_registers import RowRegisters, keep_rows
from .scope import Scope
from .sizes import Extent, factors, hint_of
from .statements import Keep, Set, Store, Var, bodies, positions_of, walk
from .streaming_stores import Blocks, collect_blocks
from .target import Target
from .tiles import (
    Divisors,
    KernelBody,
    Team,
    declare_coordinates,
    index_type,
    loop_over,
    tile_number,
)

# Independent accumulators per lane hide the latency of an update. An element with a longer text has one
# accumulator, because the text is compiled once for each.
_ACCUMULATORS, _SHORT_TEXT = 4, 1000
# The longest row that a GPU's sub-group computes if there are rows for all. A group would wait at barriers
# for longer than it loads.
_MAX_SUB_GROUP_ROW = 1024


def make_team(rows: int, columns: int, target: Target, has_caches: bool = False) -> Team:
    """Return the items that share a row: on GPUs a group, if rows are long, or too few for all sub-groups.

    The memory of caches is that of as few rows as possible.
    """
    group = target.lanes * target.sub_groups
    if not target.gpu or columns < group:
        return Team(target.lanes)
    if columns <= _MAX_SUB_GROUP_ROW and target.is_filled_by(rows) and not has_caches:
        return Team(target.lanes)
    return Team(group, str(group), "local_id()")


def write_rows(program: LoopProgram, target: Target) -> KernelBody:
    """Write a row kernel: a sub-group, or a work-group, computes each row."""
    shape, leading = program.shape, program.parallel_dims
    index = index_type(program)
    loops = join(shape, _positions(program), leading)
    rows, columns = math.prod(shape[:leading]), math.prod(shape[leading:])
    team = make_team(hint_of(rows), hint_of(columns), target, bool(program.caches))
    registers = RowRegisters()
    if target.gpu and isinstance(columns, int) and len(loops.sizes) == loops.leading + 1:
        program, registers = keep_rows(program, columns, team.items)
    body = _BodyWriter(program, loops, index, columns, target, team, registers)
    body.declare_caches(program.caches)
    body.add(
        f"for ({index} row = tile * ({index})height, "
        f"last = min_of(row + ({index})height, ({index})rows); row < last; ++row) {{"
    )
    body.lines += declare_coordinates(loops.sizes[: loops.leading], "row", index)
    body.load_row()
    folds = 0
    for section in program.sections:
        body.section(section, folds)
        folds += len(section.folds)
    body.add("}")
    body.lines += body.final_statements
    tile = tile_number(target, index)
    if team.items > target.lanes:
        tile = f"  const {index} tile = ({index})group_id();"
    division = Division(
        "folds", factors(rows), factors(columns), team.items, target, body.divisors.factors
    )
    names = ["rows", "height", *body.divisors.names]
    return KernelBody([*body.declarations, tile, *body.lines], names, division, body.headers)


def _positions(program: LoopProgram) -> dict:
    found: dict = {}
    for section in program.sections:
        found |= positions_of(section.per_element)
        found |= positions_of(section.per_row)
        for fold in section.folds:
            results = [Set(*result) for result in zip(fold.results, fold.finish, strict=True)]
            found |= positions_of((*fold.update, *fold.combine, *results))
    return found


class _BodyWriter:
    """Writes the body of a row kernel."""

    def __init__(
        self,
        program: LoopProgram,
        loops: Loops,
        index: str,
        columns: Extent,
        target: Target,
        team: Team,
        registers: RowRegisters,
    ) -> None:
        self.loops, self.index, self.columns = loops, index, columns
        self.registers = registers
        self.symbols = program.symbols
        self.target, self.team = target, team
        self.lines: list[str] = []
        self.declarations: list[str] = []  # of blocks for streaming stores
        self.final_statements: list[str] = []
        self.elements = 0
        self.blocked: set[int] = set()  # the folds whose sums are of blocks
        self.hoisted: set[str] = set()
        leading = loops.leading
        trailing = loops.sizes[leading:]
        row_names: dict[int | str, str] = {dim: f"d{dim}" for dim in range(leading)}
        # Outer column dimensions have loops of their own if the inner one is long enough for lanes. Otherwise
        # all of them have one loop, and coordinates are computed by division.
        nests = hint_of(trailing[-1]) >= max(MIN_INNER, team.items) if len(trailing) > 1 else False
        self.outer = trailing[:-1] if nests and not program.caches else []
        self.length = trailing[-1] if self.outer else columns
        self.several = len(trailing) > 1 and not self.outer
        self.divisors = Divisors.of([] if self.outer else trailing, index)
        self.headers = self.divisors.headers
        names = dict(row_names)
        for number in range(len(trailing)):
            names[leading + number] = f"q{number}" if len(trailing) > 1 else "c"
        if self.outer:
            names[leading + len(self.outer)] = "c"
        joined = loops.positions.__getitem__
        self.scope, comments = Scope.of(program), program.comments
        # What runs once per row runs on every item, and one item stores.
        self.of_row = Renderer(
            program.arrays, joined, row_names, f"{team.own} == 0", self.scope, comments
        )
        self.of_element = Renderer(
            program.arrays,
            joined,
            names,
            scope=self.scope,
            comments=comments,
            registers=registers.loads,
        )
        self.names, self.joined = names, joined
        self.arrays, self.total = program.arrays, hint_of(math.prod(program.shape))
        self.last_section = program.sections[-1]

    def add(self, line: str) -> None:
        self.lines.append(line)

    def declare_caches(self, caches: Sequence[Cache]) -> None:
        """Declare local memory for cached values: each work-item reads only what it wrote itself."""
        if not caches:
            return
        rows = self.target.sub_groups if self.team.items == self.target.lanes else 1
        own = f"sub_group_broadcast(sub_group_id()) * {self.columns}" if rows > 1 else "0"
        self.add(f"const i32 row_offset = {own};")
        for cache in caches:
            self.add(f"static Local<{cache.type}, {rows * self.columns}> {cache.name};")

    def load_row(self) -> None:
        """Load the row's registers; all of an item's loads are issued at once."""
        if not self.registers.loads:
            return
        loads = []
        for name, load in self.registers.loads.items():
            element = self.arrays[load.array].element
            self.add(f"{element.math} {name}[{self.registers.slots}];")
            value = self.of_element.element(load.array, load.position)
            loads.append(f"{name}[slot] = {load_template(element).format(value)};")
        self.add(f"auto load_row = [&]({self.index} c, i32 slot) __attribute__((always_inline)) {{")
        self.lines += [*loads, "};"]
        self._for_each_slot(lambda slot, place: f"load_row({place}, {slot});")

    def _for_each_slot(self, call: Callable[[int, str], str]) -> None:
        """Write a call for each of an item's elements."""
        team, columns = self.team, self.length
        assert isinstance(columns, int)
        for slot in range(self.registers.slots):
            place = f"{slot} * {team.count} + {team.own}"
            exists = f"if ({place} < {columns}) " if columns < (slot + 1) * team.items else ""
            self.add(exists + call(slot, place))

    def section(self, section: Section, first: int) -> None:
        """Write a section, whose folds have the numbers from ``first``."""
        numbers = range(first, first + len(section.folds))
        accumulators = self._loop_along_row(section, numbers)
        for number, fold in zip(numbers, section.folds, strict=True):
            self._reduce(number, fold, accumulators)
        self.lines += self.of_row.lines(section.per_row)

    def _loop_along_row(self, section: Section, numbers: Sequence[int]) -> int:
        """Write the loop along the row; return its number of accumulators."""
        statements = section.per_element
        if not section.folds and not any(type(s) in (Store, Keep) for s in walk(statements)):
            return 0
        number = self.elements
        self.elements += 1
        blocks = self._blocks(section)
        once, each = hoist(blocks.statements, self.hoisted)
        self.hoisted.update(let.name for let in once)
        before = self.of_element.lines(once)
        with self.scope.nested():
            inside = self.of_element.lines(each)
            updates = [
                "\n".join(self.of_element.body(fold.update, _members("s", fold)))
                for fold in section.folds
            ]
        length = sum(len(without_comments(text)) for text in (*before, *inside, *updates))
        enough = hint_of(self.length) >= _ACCUMULATORS * self.team.items
        short = numbers and enough and length <= _SHORT_TEXT
        accumulators = _ACCUMULATORS if short else 1
        self.lines += before
        updates_of_each = 0
        if not self.registers.loads:
            elements = hint_of(math.prod([*self.outer, self.length]))
            updates_of_each = elements // (accumulators * self.team.items)
        for n, fold in zip(numbers, section.folds, strict=True):
            members = " ".join(f"{type} s{k};" for k, type in enumerate(fold.types))
            self.add(f"struct S{n} {{ {members} }};")
            if needs_blocks(fold, updates_of_each):
                self.blocked.add(n)
                self.lines += self._both(n, fold) + declare_sums(n, fold, accumulators)
            else:
                starts = ", ".join([_start(n, fold)] * accumulators)
                self.add(f"S{n} a{n}[{accumulators}] = {{{starts}}};")
        states = ", i32 at" if blocks.chosen else "".join(f", S{n}& state{n}" for n in numbers)
        if self.registers.loads:
            states = f", [[maybe_unused]] i32 slot{states}"
        for dim, size in enumerate(self.outer):
            self.add(f"for ({self.index} q{dim} = 0; q{dim} < {size}; ++q{dim}) {{")
        self.add(
            f"auto element{number} = [&]({self.index} c{states}) __attribute__((always_inline)) {{"
        )
        if self.divisors.strides:
            self.lines += self.divisors.declare_coordinates("c", "q")
        elif self.several:
            sizes = self.loops.sizes[self.loops.leading :]
            self.lines += declare_coordinates(sizes, "c", self.index, "q")
        self.lines += inside
        for n, fold, update in zip(numbers, section.folds, updates, strict=True):
            names = " ".join(f"auto& s{k} = state{n}.s{k};" for k in range(len(fold.types)))
            self.add(f"{{ {names}")
            self.add(update)
            self.add("}")
        self.add("};")
        if blocks.chosen:
            self._streaming_loop(number, blocks)
        else:
            self._loop(number, numbers, accumulators)
        self.add("}" * len(self.outer))
        return accumulators

    def _blocks(self, section: Section) -> Blocks:
        """Choose the streaming stores of a section: of the last one, whose results no other one reads."""
        statements, target = section.per_element, self.target
        nested = any(type(s) is Store for top in statements for b in bodies(top) for s in walk(b))
        along = [dim for dim, name in self.names.items() if name == "c" and isinstance(dim, int)]
        fits = along and not self.several and self.team.items == target.lanes
        if section is not self.last_section or section.folds or nested or not fits:
            return Blocks(statements)
        if not target.division.streaming_bytes:
            return Blocks(statements)
        return collect_blocks(
            self.arrays,
            statements,
            self.total,
            hint_of(self.length),
            target.division.streaming_bytes,
            lambda at: self.joined(at).is_unit_stride(along[0]),
        )

    def _streaming_loop(self, number: int, blocks: Blocks) -> None:
        self.declarations += blocks.declarations
        self.headers += blocks.headers
        self.final_statements = blocks.final_statements
        names = {counter: "e" if name == "c" else name for counter, name in self.names.items()}
        self.lines += blocks.loop(
            self.index,
            "0",
            str(self.length),
            self.target.vector_loop,
            lambda at: self.joined(at).text(names),
            f"element{number}",
        )

    def _loop(self, number: int, folds: Sequence[int], accumulators: int) -> None:
        team, index, columns = self.team, self.index, self.length
        if self.registers.loads:
            self._for_each_slot(
                lambda slot, place: (
                    f"element{number}({place}, {slot}"
                    + "".join(f", a{n}[{slot % accumulators}]" for n in folds)
                    + ");"
                )
            )
            return

        def call(accumulator: int) -> str:
            place = f"e + {accumulator} * {team.count} + {team.own}"
            if accumulator == 0:
                place = f"e + {team.own}"
            states = "".join(f", a{n}[{accumulator}]" for n in folds)
            return f"element{number}({place}{states});"

        left, first = columns, "0"
        blocked = [n for n in folds if n in self.blocked]
        if accumulators > 1 or blocked:
            calls = " ".join(call(accumulator) for accumulator in range(accumulators))
            step, loop = f"{accumulators} * {team.count}", self.target.vector_loop
            self.add(f"{{ {index} e = 0;")
            if blocked:
                self.lines += loop_in_blocks(blocked, index, "e", str(columns), step, loop, [calls])
                self.add("}")
            else:
                self.add(f"{loop} (; e + {step} <= {columns}; e += {step}) {{ {calls} }} }}")
            if isinstance(columns, int):
                left = columns % (accumulators * team.items)
                first = str(columns - left)
            else:
                first = f"{columns} / ({step}) * ({step})"
        if left:
            self.lines += loop_over(call(0), index, left, self.target, first, str(columns), team)
            if self.outer:
                self.lines += [updated(n, accumulators) for n in blocked]

    def _both(self, number: int, fold: Fold) -> list[str]:
        return define_both(number, fold, self.of_row, "=" if self.symbols else "")

    def _reduce(self, number: int, fold: Fold, accumulators: int) -> None:
        """Combine the lanes' partial results, and compute the results."""
        members = range(len(fold.types))
        if number in self.blocked:
            self.headers += (HEADER,)
            self.add(finish(number))
        else:
            self.lines += self._both(number, fold)
        for accumulator in range(1, accumulators):
            self.add(f"a{number}[0] = both{number}(a{number}[0], a{number}[{accumulator}]);")
        together = f"sub_group_reduce(a{number}[0], both{number})"
        if self.team.items > self.target.lanes:
            together = f"group_reduce(a{number}[0], both{number}, {_start(number, fold)})"
        self.add(f"S{number} whole{number} = {together};")
        for name, type in zip(fold.results, fold.types, strict=True):
            self.lines += self.of_row.lines([Var(name, type)])
        names = " ".join(f"[[maybe_unused]] auto& s{k} = whole{number}.s{k};" for k in members)
        ends = " ".join(self.of_row.body(map(Set, fold.results, fold.finish), _members("s", fold)))
        self.add(f"{{ {names} {ends} }}")


def _members(letter: str, fold: Fold) -> list[str]:
    """Return the names of the accumulators: ``s`` are one's own, ``r`` are another lane's."""
    return [f"{letter}{k}" for k in range(len(fold.types))]


def _start(number: int, fold: Fold) -> str:
    return f"S{number}{{{', '.join(fold.identities)}}}"
