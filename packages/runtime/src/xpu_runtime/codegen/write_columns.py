"""Write a kernel whose lanes lie along the last parallel dimension: each lane folds a row of its own."""

from __future__ import annotations

import math
from collections.abc import Sequence

from .division import Division
from .loops import MIN_INNER, Loops, join
from .program import Fold, LoopProgram, Section
from .render import Renderer
from .sizes import factors, hint_of
from .statements import Let, Load, Store, positions_of, walk
from .target import Target
from .tiles import KernelBody, declare_coordinates, index_type, tile_number

# An element with a longer text is computed for one vector, because the text is compiled once for each.
_SHORT_TEXT = 1000


def write_columns(program: LoopProgram, target: Target) -> KernelBody:
    """Write blocks of neighbouring columns; the outermost folded size is an argument."""
    leading, index = program.parallel_dims, index_type(program)
    positions: dict = {}
    for section in program.sections:
        positions |= positions_of(section.per_element) | positions_of(section.per_row)
    loops = join(program.shape, positions, leading)
    writer = _BodyWriter(program, loops, index, target)
    vectors = writer.choose_vectors()
    width = vectors * target.lanes
    division = Division(
        "columns",
        factors(writer.rows),
        factors(writer.columns),
        width,
        target,
        factors(writer.folded_sizes[0]),
        factors(math.prod(writer.folded_sizes[1:])),
    )
    names = ["blocks", "height", "count"]
    wide: int | str = "wide"
    per_row: int | str = "per_row"
    if isinstance(writer.columns, int):
        wide = writer.columns // width
        per_row = wide + -(-(writer.columns - wide * width) // target.lanes)
    if not all(
        isinstance(extent, int) for extent in (writer.rows, writer.columns, *writer.folded_sizes)
    ):
        names += ["wide", "per_row"]
    writer.lines += [
        tile_number(target, index),
        f"for ({index} block = tile * ({index})height, "
        f"last = min_of(block + ({index})height, ({index})blocks); block < last; ++block) {{",
        f"const {index} row = block / ({index}){per_row}, at = block % ({index}){per_row};",
        *declare_coordinates(writer.outer_sizes, "row", index),
    ]
    if wide:
        writer.lines.append(f"if (at < ({index}){wide}) {{ const {index} first = at * {width};")
        writer.block(vectors)
        writer.lines.append("}")
    if not isinstance(writer.columns, int) or writer.columns % width:
        # The lanes of the last vector that are beyond the end do nothing.
        start = f"({index}){wide} * {width} + (at - ({index}){wide}) * XPU_SUB_GROUP"
        writer.lines.append(
            f"if (at >= ({index}){wide}) if (const {index} first = {start}; first + lane() < {writer.columns}) {{"
        )
        writer.block(1)
        writer.lines.append("}")
    writer.lines.append("}")
    return KernelBody(writer.lines, names, division)


class _BodyWriter:
    """Writes the code of blocks.

    A row of the parallel dimensions has ``columns`` columns. If that is too short for lanes, all rows are
    one, and each lane computes its coordinates.
    """

    def __init__(self, program: LoopProgram, loops: Loops, index: str, target: Target) -> None:
        self.arrays = program.arrays
        self.sections, self.index, self.target = program.sections, index, target
        self.lines: list[str] = []
        parallel = loops.sizes[: loops.leading] or [1]
        self.folded_sizes = loops.sizes[loops.leading :] or [1]
        self.columns = parallel[-1]
        self.outer_sizes, self.lane_sizes = parallel[:-1], []
        if hint_of(self.columns) < MIN_INNER:
            self.columns = math.prod(parallel)
            self.outer_sizes, self.lane_sizes = [], parallel
        self.rows = math.prod(self.outer_sizes)
        names: dict[int | str, str] = {dim: f"d{dim}" for dim in range(loops.leading)}
        if not self.lane_sizes:
            names[loops.leading - 1] = "e"
        joined = loops.positions.__getitem__
        self.of_row = Renderer(program.arrays, joined, names)
        q = {loops.leading + dim: f"q{dim}" for dim in range(len(self.folded_sizes))}
        self.of_element = Renderer(program.arrays, joined, names | q)

    def choose_vectors(self) -> int:
        """Return the vectors of a block; fewer if that leaves compute units without blocks."""
        target, vectors = self.target, self.target.division.column_vectors
        texts = [self.of_element.text(section.per_element) for section in self.sections]
        if max(map(len, texts)) > _SHORT_TEXT:
            return 1
        while (
            vectors > 1
            and hint_of(self.rows * self.columns) < 2 * target.units * vectors * target.lanes
        ):
            vectors //= 2
        return vectors

    def block(self, vectors: int) -> None:
        """Write all sections for the columns of ``vectors`` vectors from ``first``."""
        results: list[str] = []
        folds = 0
        for number, section in enumerate(self.sections):
            numbers = range(folds, folds + len(section.folds))
            folds += len(section.folds)
            self._loop_over_rows(number, section, numbers, results, vectors)
            for n, fold in zip(numbers, section.folds, strict=True):
                results += [
                    f"[[maybe_unused]] const auto& {name} = a{n}[v].s{k};"
                    for k, name in enumerate(fold.results)
                ]
            if section.per_row:
                self._row(number, section, results, vectors)

    def _row(self, number: int, section: Section, results: list[str], vectors: int) -> None:
        """Write the statements of rows; later sections may use what they define."""
        body = [*results, *self.of_row.lines(section.per_row)]
        for s in section.per_row:
            if isinstance(s, Let | Load):
                type = s.type if isinstance(s, Let) else self.arrays[s.array].element.math
                kept = f"kept_{s.name}"
                self.lines.append(f"{type} {kept}[{vectors}];")
                body.append(f"{kept}[v] = {s.name};")
                results.append(f"[[maybe_unused]] const auto& {s.name} = {kept}[v];")
        self._function(f"row{number}", body)
        self._call(f"row{number}", vectors)

    def _loop_over_rows(self, number, section, numbers, results, vectors) -> None:
        statements = section.per_element
        if not section.folds and not any(type(s) is Store for s in walk(statements)):
            return
        for n, fold in zip(numbers, section.folds, strict=True):
            members = " ".join(f"{type} s{k};" for k, type in enumerate(fold.types))
            self.lines.append(f"struct S{n} {{ {members} }};")
            start = f"S{n}{{{', '.join(fold.identities)}}}"
            self.lines.append(f"S{n} a{n}[{vectors}] = {{{', '.join([start] * vectors)}}};")
        for dim, size in enumerate(self.folded_sizes):
            end = f"({self.index})count" if dim == 0 else str(size)
            self.lines.append(
                f"{self.target.vector_loop} ({self.index} q{dim} = 0; q{dim} < {end}; ++q{dim}) {{"
            )
        body = [*results, *self.of_element.lines(statements)]
        for n, fold in zip(numbers, section.folds, strict=True):
            names = " ".join(f"auto& s{k} = a{n}[v].s{k};" for k in range(len(fold.types)))
            body += [f"{{ {names}", *self.of_element.lines(fold.update), "}"]
        self._function(f"element{number}", body)
        self._call(f"element{number}", vectors)
        self.lines.append("}" * len(self.folded_sizes))
        for n, fold in zip(numbers, section.folds, strict=True):
            self._finish(n, fold, results, vectors)

    def _finish(self, number: int, fold: Fold, results: Sequence[str], vectors: int) -> None:
        """Replace the accumulators by the results."""
        body = [*results, f"const S{number} whole = a{number}[v];"]
        body += [f"[[maybe_unused]] const auto& s{k} = whole.s{k};" for k in range(len(fold.types))]
        body += [
            f"a{number}[v].s{k} = {self.of_row.operand(value)};"
            for k, value in enumerate(fold.finish)
        ]
        self._function(f"whole{number}", body)
        self._call(f"whole{number}", vectors)

    def _function(self, name: str, body: Sequence[str]) -> None:
        self.lines.append(f"auto {name} = [&](i32 v) __attribute__((always_inline)) {{")
        self.lines.append(
            f"[[maybe_unused]] const {self.index} e = first + v * XPU_SUB_GROUP + lane();"
        )
        self.lines += declare_coordinates(self.lane_sizes, "e", self.index)
        self.lines += body
        self.lines.append("};")

    def _call(self, name: str, vectors: int) -> None:
        self.lines.append(" ".join(f"{name}({v});" for v in range(vectors)))
