"""Write a kernel whose lanes lie along the last parallel dimension: each lane folds a row of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .blocked_sums import HEADER, declare_sums, define_both, finish, loop_in_blocks
from .division import Division, column_blocks
from .hoist import hoist
from .loops import MIN_INNER, Loops, join
from .program import Fold, LoopProgram, Section
from .render import Renderer
from .scope import Scope
from .sizes import factors, hint_of, symbols_of
from .statements import Let, Load, Statement, Store, Var, positions_of, walk
from .target import Target
from .tiles import KernelBody, declare_coordinates, index_type, tile_number

# The registers that accumulators of a block may use, and the text of a block's elements: it is compiled once
# for each vector.
_REGISTERS, _MAX_TEXT = 16, 8000
# A GPU's loads have a long latency, so those of several rows are issued at once, if the text is short.
_UNROLL = 4
_WORDS = {"i64": 2, "u64": 2, "double": 2, "Complex<float>": 2, "Complex<double>": 4}


def write_columns(program: LoopProgram, target: Target) -> KernelBody:
    """Write blocks of neighboring columns; the outermost folded size is an argument."""
    positions = positions_of(s for section in program.sections for s in _statements(section))
    loops = join(program.shape, positions, program.parallel_dims)
    index = index_type(program)
    writer = _BodyWriter(program, loops, index, target)
    columns, symbolic = writer.columns, bool(symbols_of(writer.columns))
    may_repeat = not symbolic and _may_repeat(program)
    vectors = writer.choose_vectors(may_repeat)
    width = vectors * target.lanes
    division = Division(
        "columns",
        factors(writer.rows),
        factors(columns),
        width,
        target,
        outer=factors(writer.folded_sizes[0]),
        inner=factors(math.prod(writer.folded_sizes[1:])),
        overlap=may_repeat,
    )
    wide, per_row = column_blocks(hint_of(columns), width, target.lanes, may_repeat)
    names = ["blocks", "height", "count"]
    if division.symbols:
        names += ["wide", "per_row"]
    wide_text, per_row_text = str(wide), str(per_row)
    if symbolic:
        wide_text, per_row_text = f"({index})wide", f"({index})per_row"
    writer.lines += [
        tile_number(target, index),
        f"for ({index} block = tile * ({index})height, "
        f"last = min_of(block + ({index})height, ({index})blocks); block < last; ++block) {{",
        f"const {index} row = block / {per_row_text}, at = block % {per_row_text};",
        *declare_coordinates(writer.outer_sizes, "row", index),
    ]
    if symbolic or wide:
        first = f"at * {width}"
        if not symbolic:
            first = f"min_of({first}, ({index}){hint_of(columns) - width})"
        condition = f"if (at < {wide_text}) " if symbolic or wide < per_row else ""
        writer.lines.append(f"{condition}{{ const {index} first = {first};")
        writer.block(vectors)
        writer.lines.append("}")
    if symbolic or wide < per_row:
        # One condition around the loops: a condition inside them would take longer than the loads.
        first = f"{wide_text} * {width} + (at - {wide_text}) * XPU_SUB_GROUP"
        writer.lines.append(
            f"if (at >= {wide_text}) "
            f"if (const {index} first = {first}; first + lane() < {columns}) {{"
        )
        writer.block(1)
        writer.lines.append("}")
    writer.lines.append("}")
    return KernelBody(writer.lines, names, division, writer.headers)


def _statements(section: Section) -> list[Statement]:
    """Return the statements that access arrays."""
    updates = [statement for fold in section.folds for statement in fold.update]
    return [*section.per_element, *updates, *section.per_row]


def _may_repeat(program: LoopProgram) -> bool:
    """Return True if two sub-groups may compute a column: nothing is updated, or read after it is stored."""
    loaded, stored = set(), set()
    for section in program.sections:
        for statement in walk(_statements(section)):
            if type(statement) is Load:
                loaded.add(statement.array)
            elif type(statement) is Store:
                stored.add(statement.array)
                if statement.combine:
                    return False
    return loaded.isdisjoint(stored)


class _BodyWriter:
    """Writes the code of blocks.

    ``columns`` are those of a row of the parallel dimensions. If rows are too short for lanes, all rows are
    one, and each lane computes its coordinates.
    """

    def __init__(self, program: LoopProgram, loops: Loops, index: str, target: Target) -> None:
        self.sections, self.index, self.target = program.sections, index, target
        self.arrays = program.arrays
        self.lines: list[str] = []
        self.headers: tuple[str, ...] = ()
        parallel = loops.sizes[: loops.leading] or [1]
        self.folded_sizes = loops.sizes[loops.leading :] or [1]
        names: dict[int | str, str] = {dim: f"d{dim}" for dim in range(loops.leading)}
        if hint_of(parallel[-1]) < MIN_INNER:
            self.columns = math.prod(parallel)
            self.outer_sizes, self.lane_sizes = [], parallel
        else:
            self.columns = parallel[-1]
            self.outer_sizes, self.lane_sizes = parallel[:-1], []
            names[loops.leading - 1] = "e"
        self.rows = math.prod(self.outer_sizes)
        joined = loops.positions.__getitem__
        self.scope = Scope.of(program)
        comments = program.comments
        self.of_row = Renderer(program.arrays, joined, names, scope=self.scope, comments=comments)
        of_element = dict(names)
        for dim in range(len(self.folded_sizes)):
            of_element[loops.leading + dim] = f"q{dim}"
        self.of_element = Renderer(
            program.arrays, joined, of_element, scope=self.scope, comments=comments
        )
        self.unscoped = Renderer(program.arrays, joined, of_element)  # only to measure texts
        self.vectors = 1
        self.bindings: list[str] = []  # of the names of values that each column has
        self.results: set[str] = set()

    def choose_vectors(self, may_repeat: bool) -> int:
        """Return the vectors of a wide block: as many as registers hold, if all units get blocks."""
        words = max(
            sum(_WORDS.get(type, 1) for fold in section.folds for type in fold.types)
            for section in self.sections
        )
        lines = (line for s in self.sections for line in self.unscoped.lines(_statements(s)))
        length = sum(len(line) + 1 for line in lines)
        limit = min(
            self.target.division.column_vectors,
            _REGISTERS // max(words, 1),
            _MAX_TEXT // max(length, 1),
        )
        columns, rows = hint_of(self.columns), hint_of(self.rows)
        whole = columns // self.target.lanes
        if self.target.gpu:
            numbers = range(min(limit, whole), 1, -1)
            return next((n for n in numbers if self.target.is_filled_by(rows * whole // n)), 1)
        # All units get equally many blocks of a row.
        units = -(-self.target.units // max(rows, 1))
        blocks = max(1, units * -(-whole // (units * max(limit, 1))))
        vectors = -(-columns // (blocks * self.target.lanes)) if may_repeat else whole // blocks
        return max(1, min(vectors, whole))

    def block(self, vectors: int) -> None:
        """Write all sections for the columns of ``vectors`` vectors from ``first``."""
        self.vectors, self.bindings, self.results = vectors, [], set()
        folds = 0
        with self.scope.nested():
            for number, section in enumerate(self.sections):
                numbers = range(folds, folds + len(section.folds))
                folds += len(section.folds)
                self._section(number, section, numbers)

    def _section(self, number: int, section: Section, folds: range) -> None:
        statements = section.per_element
        if section.folds or any(type(s) is Store for s in walk(statements)):
            outside = list(self.bindings)
            once, each = hoist(statements, self.results)
            with self.scope.nested():
                if once:
                    self._hoist(number, once)
                self._loop(number, section, each, folds)
            self.bindings = outside
        for n, fold in zip(folds, section.folds, strict=True):
            self._finish(n, fold)
        for n, fold in zip(folds, section.folds, strict=True):
            self._bind(f"a{n}", {name: f"s{k}" for k, name in enumerate(fold.results)})
            self.results.update(fold.results)
        if section.per_row:
            self._row(number, section.per_row)

    def _row(self, number: int, statements: Sequence[Statement]) -> None:
        """Write the statements of rows; later sections may use what they define."""
        values = f"kept{number}"
        defined = [
            (s.name, self.arrays[s.array].element.math if isinstance(s, Load) else s.type)
            for s in statements
            if isinstance(s, Let | Load | Var)
        ]
        lines = self.of_row.body(statements)
        if defined:
            self._declare(f"Kept{number}", values, defined, [])
            lines += [f"{values}[v].{name} = {name};" for name, _ in defined]
        self._for_each_vector(f"row{number}", lines)
        self._bind(values, {name: name for name, _ in defined})
        self.results.update(name for name, _ in defined)

    def _hoist(self, number: int, once: Sequence[Let]) -> None:
        """Compute definitions before the loops."""
        values = f"h{number}"
        self._declare(f"H{number}", values, [(let.name, let.type) for let in once], [])
        stores = [f"{values}[v].{let.name} = {let.name};" for let in once]
        self._for_each_vector(f"once{number}", [*self.of_element.body(once), *stores])
        self._bind(values, {let.name: let.name for let in once})

    def _loop(self, number: int, section: Section, each: Sequence[Statement], folds: range) -> None:
        """Write the loops over the folded dimensions."""
        # Whatever the number of rows is: one kernel serves all of them.
        blocked = [n for n, fold in zip(folds, section.folds, strict=True) if fold.rounds]
        for n, fold in zip(folds, section.folds, strict=True):
            members = [(f"s{k}", type) for k, type in enumerate(fold.types)]
            if n in blocked:
                self._declare_type(f"S{n}", members)
                self.lines += define_both(n, fold, self.of_row, "=")
                self.lines += declare_sums(n, fold, self.vectors)
                self.headers = (HEADER,)
            else:
                self._declare(f"S{n}", f"a{n}", members, fold.identities)
        with self.scope.nested():
            body = self.of_element.lines(each)
            for n, fold in zip(folds, section.folds, strict=True):
                states = [f"s{k}" for k in range(len(fold.types))]
                names = " ".join(f"auto& {s} = a{n}[v].{s};" for s in states)
                body += [f"{{ {names}", *self.of_element.body(fold.update, states), "}"]
        short = sum(map(len, body)) * self.vectors * _UNROLL <= _MAX_TEXT
        ends = [f"({self.index})count", *map(str, self.folded_sizes[1:])]
        loop = self.target.vector_loop
        last = len(ends) - 1
        for dim, end in enumerate(ends[:last]):
            self.lines.append(f"{loop} ({self.index} q{dim} = 0; q{dim} < {end}; ++q{dim}) {{")
        if self.target.gpu and short:
            loop = f'_Pragma("unroll {_UNROLL}") {loop}'
        element = self._of_each_vector(f"element{number}", body)
        counter, end = f"q{last}", ends[last]
        self.lines.append(f"{{ {self.index} {counter} = 0;")
        if blocked:
            self.lines += loop_in_blocks(blocked, self.index, counter, end, "1", loop, element)
        else:
            self.lines += [f"{loop} (; {counter} < {end}; ++{counter}) {{", *element, "}"]
        self.lines.append("}" * len(ends))
        self.lines += [finish(n) for n in blocked]

    def _finish(self, number: int, fold: Fold) -> None:
        """Put the results in the place of the accumulators."""
        members = [f"s{k}" for k in range(len(fold.types))]
        body = [f"const auto whole = a{number}[v];"]
        body += [f"[[maybe_unused]] auto& {s} = whole.{s};" for s in members]
        with self.scope.nested(members):
            body += [
                f"a{number}[v].{s} = {self.of_row.operand(value)};"
                for s, value in zip(members, fold.finish, strict=True)
            ]
        self._for_each_vector(f"whole{number}", body)

    def _declare(
        self, type: str, name: str, members: Sequence[tuple[str, str]], values: Sequence[str]
    ) -> None:
        """Declare a structure, and an array that has one for each vector."""
        self._declare_type(type, members)
        starts = ", ".join([f"{type}{{{', '.join(values)}}}"] * self.vectors)
        self.lines.append(f"{type} {name}[{self.vectors}] = {{{starts}}};")

    def _declare_type(self, type: str, members: Sequence[tuple[str, str]]) -> None:
        fields = " ".join(f"{of} {member};" for member, of in members)
        self.lines.append(f"struct {type} {{ {fields} }};")

    def _bind(self, array: str, names: dict[str, str]) -> None:
        """Let later functions use members of an array's structures by name."""
        for name in names:
            self.scope.define(name)
        self.bindings += [
            f"[[maybe_unused]] auto& {name} = {array}[v].{member};"
            for name, member in names.items()
        ]

    def _for_each_vector(self, name: str, body: Sequence[str]) -> None:
        self.lines += self._of_each_vector(name, body)

    def _of_each_vector(self, name: str, body: Sequence[str]) -> list[str]:
        """Return a function of a vector's number, and its calls."""
        return [
            f"auto {name} = [&](i32 v) __attribute__((always_inline)) {{",
            f"[[maybe_unused]] const {self.index} e = first + v * XPU_SUB_GROUP + lane();",
            *declare_coordinates(self.lane_sizes, "e", self.index),
            *self.bindings,
            *body,
            "};",
            " ".join(f"{name}({v});" for v in range(self.vectors)),
        ]
