"""Write the kernel of a program without folds: loops around the statements of one element."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from .affine import Affine, counters, dot, row_major
from .byte_loads import load_words
from .division import Division, row_tiles
from .hoist import hoist_uniform
from .loops import MIN_INNER, Loops, join
from .program import Array, LoopProgram
from .render import Renderer
from .scope import Scope
from .sizes import Extent, factors, hint_of
from .statements import Statement, Store, bodies, positions_of, walk
from .streaming_stores import Blocks, collect_blocks
from .target import Target
from .tiles import Divisors, KernelBody, declare_coordinates, index_type, loop_over, tile_number
from .write_transposed import transposed_loads, write_transposed

# The vectors of a row of a tile, where an access is contiguous along another dimension than the lanes'.
TRANSPOSED_VECTORS = 2


def write_pointwise(program: LoopProgram, target: Target) -> KernelBody:
    """Write tiles of rows, or of parts of a row; the outermost size is an argument."""
    statements = list(program.sections[0].per_element)
    loops = join(program.shape, positions_of(statements))
    index = index_type(program)
    if not target.gpu:
        loops, statements = load_words(program, statements, loops, index)
    stored_inside = any(
        type(s) is Store for top in statements for b in bodies(top) for s in walk(b)
    )
    total = hint_of(math.prod(program.shape))
    once, statements = hoist_uniform(statements, program.arrays)
    scope = Scope.of(program)
    element = _Element(
        program.arrays, loops, once, statements, total, target, index, scope, program.comments
    )
    element.may_stream = target.division.streaming_bytes > 0 and not stored_inside
    columns, rows = loops.sizes[-1], math.prod(loops.sizes[:-1])
    if rows == 1 or hint_of(columns) < MIN_INNER:
        return _write_line(element, rows, columns)
    return _write_rows(element, rows, columns)


@dataclass
class _Element:
    """The statements of an element, and what its loops need."""

    arrays: Sequence[Array]
    loops: Loops
    once: Sequence[Statement]  # define what is the same for all elements
    statements: list[Statement]
    total: int
    target: Target
    index: str
    scope: Scope
    comments: Mapping[str, str]
    may_stream: bool = False

    def renderer(self, names: dict[int | str, str] | None = None) -> Renderer:
        """Return the renderer of statements where the loops' counters have the names."""
        joined = self.loops.positions.__getitem__
        return Renderer(self.arrays, joined, names, scope=self.scope, comments=self.comments)

    def once_lines(self) -> list[str]:
        """Return the lines that stand before the loops."""
        return [f"  {line}" for line in self.renderer().lines(self.once)]

    def blocks(self, count: Extent, fits: Callable[[Affine], bool]) -> Blocks:
        if not self.may_stream:
            return Blocks(self.statements)
        joined = self.loops.positions.__getitem__
        return collect_blocks(
            self.arrays,
            self.statements,
            self.total,
            hint_of(count),
            self.target.division.streaming_bytes,
            lambda at: fits(joined(at)),
        )

    def function(
        self, coordinates: list[str], blocks: Blocks, names: dict[int | str, str]
    ) -> list[str]:
        """Return the lambda that computes one element."""
        taken = f"{self.index} e, i32 at" if blocks.chosen else f"{self.index} e"
        head = f"  auto element = [&]({taken}) __attribute__((always_inline)) {{"
        lines = coordinates + self.renderer(names).body(blocks.statements)
        return [head, *(f"    {line}" for line in lines), "  };"]


def _write_rows(element: _Element, rows: Extent, columns: Extent) -> KernelBody:
    target, index, loops = element.target, element.index, element.loops
    last = len(loops.sizes) - 1
    blocks = element.blocks(columns, lambda position: position.is_unit_stride(last))
    staged = transposed_loads(element.arrays, loops, element.statements, target)
    if staged:
        return write_transposed(
            element.arrays, loops, element.once, blocks, staged, target, index, element.renderer
        )
    limit = _column_limit(loops, last, target)
    division = Division("rows", factors(rows), factors(columns), target.lanes, target, limit=limit)
    column_tiles: str | int
    width: str | int
    if isinstance(rows, int) and isinstance(columns, int):
        sizes = ["rows", "height"]
        _, column_tiles, width = row_tiles(rows, columns, target, limit)
    else:
        sizes = ["rows", "height", "column_tiles", "width"]
        column_tiles, width = f"({index})column_tiles", f"({index})width"
    names: dict[int | str, str] = {dim: f"d{dim}" for dim in range(last)}
    names[last] = "e"
    text = [*blocks.declarations, tile_number(target, index), *element.once_lines()]
    tile_row, first, end = "tile", "0", f"({index}){columns}"
    if column_tiles != 1:
        text.append(
            f"  const {index} first = tile % {column_tiles} * {width}, "
            f"end = min_of(first + {width}, ({index}){columns});"
        )
        tile_row, first, end = f"tile / {column_tiles}", "first", "end"
    text.append(
        f"  for ({index} row = {tile_row} * ({index})height, "
        f"last = min_of(row + ({index})height, ({index})rows); row < last; ++row) {{"
    )
    text += declare_coordinates(loops.sizes[:-1], "row", index)
    text += element.function([], blocks, names)
    if blocks.chosen:
        text += blocks.loop(
            index, first, end, target.vector_loop, lambda at: loops.positions[at].text(names)
        )
    else:
        text += loop_over("element(e + lane());", index, columns, target, first, end)
    text += ["  }", *blocks.final_statements]
    return KernelBody(text, sizes, division, blocks.headers)


def _column_limit(loops: Loops, last: int, target: Target) -> int:
    """Return the vectors of a tile's row, or 0 for any number.

    Where an access is contiguous along an outer dimension, narrow and high tiles use all of a cache line
    before they leave it.
    """
    if target.gpu:
        return 0
    transposed = any(
        position.factor(last) not in (0, 1)
        and any(position.factor(dim) == 1 for dim in range(last))
        for position in loops.positions.values()
    )
    return TRANSPOSED_VECTORS if transposed else 0


def _write_line(element: _Element, rows: Extent, columns: Extent) -> KernelBody:
    """Write all elements as one row; lanes compute their coordinates if there are several dimensions."""
    target, index, loops = element.target, element.index, element.loops
    sizes, count = loops.sizes, rows * columns
    several = len(sizes) > 1
    divisors = Divisors.of(sizes, index)
    coordinates: list[str] = []
    if divisors.strides:
        coordinates = divisors.declare_coordinates("e", "d")
    elif several:
        coordinates = declare_coordinates(sizes, "e", index)
    names: dict[int | str, str] = {dim: f"d{dim}" if several else "e" for dim in range(len(sizes))}
    line = dot(counters(sizes), row_major(sizes))
    blocks = element.blocks(count, lambda position: position.terms == line.terms)
    text = [
        *blocks.declarations,
        tile_number(target, index),
        f"  const {index} first = tile * ({index})width, "
        f"end = min_of(first + ({index})width, ({index})count);",
        *element.once_lines(),
        *element.function(coordinates, blocks, names),
    ]
    if blocks.chosen:
        e = Affine.of("e")
        text += blocks.loop(
            index,
            "first",
            "end",
            target.vector_loop,
            lambda at: (e + loops.positions[at].constant).text({}),
        )
        text += blocks.final_statements
    else:
        text += loop_over("element(e + lane());", index, count, target, "first", "end")
    division = Division(
        "line", factors(rows), factors(columns), target.lanes, target, divisors.factors
    )
    headers = (*blocks.headers, *divisors.headers)
    return KernelBody(text, ["count", "width", *divisors.names], division, headers)
