"""Write the kernel of a program without folds: loops around the statements of one element."""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass

from .affine import Affine, counters, dot, row_major
from .byte_loads import load_words
from .loops import MIN_INNER, Loops, join
from .program import Array, LoopProgram
from .render import Renderer
from .statements import Statement, Store, bodies, positions_of, walk
from .streaming_stores import Blocks, collect_blocks
from .target import Target
from .tiles import KernelBody, declare_coordinates, index_type, loop_over, tile_number


def write_pointwise(program: LoopProgram, target: Target) -> KernelBody:
    """Write tiles of rows, or of parts of a row; the outermost size is an argument."""
    statements = list(program.sections[0].per_element)
    loops = join(program.shape, positions_of(statements))
    count = math.prod(program.shape)
    index = index_type(program.arrays, count)
    if not target.gpu:
        loops, statements = load_words(program.arrays, statements, loops, index)
    stored_inside = any(
        type(s) is Store for top in statements for b in bodies(top) for s in walk(b)
    )
    element = _Element(program.arrays, loops, statements, count, target, index)
    element.may_stream = target.division.streaming_bytes > 0 and not stored_inside
    columns, rows = loops.sizes[-1], math.prod(loops.sizes[:-1])
    if rows == 1 or columns < MIN_INNER:
        return _write_line(element, columns * rows)
    return _write_rows(element, rows, columns)


@dataclass
class _Element:
    """The statements of an element, and what its loops need."""

    arrays: Sequence[Array]
    loops: Loops
    statements: list[Statement]
    total: int
    target: Target
    index: str
    may_stream: bool = False

    def blocks(self, count: int, fits: Callable[[Affine], bool]) -> Blocks:
        if not self.may_stream:
            return Blocks(self.statements)
        joined = self.loops.positions.__getitem__
        return collect_blocks(
            self.arrays,
            self.statements,
            self.total,
            count,
            self.target.division.streaming_bytes,
            lambda at: fits(joined(at)),
        )

    def function(
        self, coordinates: list[str], blocks: Blocks, names: dict[int | str, str]
    ) -> list[str]:
        """Return the lambda that computes one element."""
        renderer = Renderer(self.arrays, self.loops.positions.__getitem__, names)
        taken = f"{self.index} e, i32 at" if blocks.chosen else f"{self.index} e"
        head = f"  auto element = [&]({taken}) __attribute__((always_inline)) {{"
        lines = coordinates + renderer.lines(blocks.statements)
        return [head, *(f"    {line}" for line in lines), "  };"]


def _write_rows(element: _Element, rows: int, columns: int) -> KernelBody:
    target, index, loops = element.target, element.index, element.loops
    last = len(loops.sizes) - 1
    row_vectors = -(-columns // target.lanes)
    length = target.tile(row_vectors * rows)
    column_tiles = -(-row_vectors // min(length, row_vectors))
    vectors = -(-row_vectors // column_tiles)
    height = max(1, min(length // vectors, rows))
    names: dict[int | str, str] = {dim: f"d{dim}" for dim in range(last)}
    names[last] = "e"
    text, tile_row, first, end = [], "tile", "0", f"({index}){columns}"
    if column_tiles > 1:
        width = vectors * target.lanes
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
    blocks = element.blocks(columns, lambda position: position.is_unit_stride(last))
    text += element.function([], blocks, names)
    if blocks.chosen:
        text += blocks.loop(
            index, first, end, target.vector_loop, lambda at: loops.positions[at].text(names)
        )
    else:
        text += loop_over("element(e + lane());", index, columns, target, first, end)
    text.append("  }")
    return KernelBody(
        [*blocks.declarations, tile_number(target, index), *text, *blocks.final_statements],
        ["rows", "height"],
        [rows, height],
        column_tiles * -(-rows // height),
        bool(blocks.chosen),
    )


def _write_line(element: _Element, count: int) -> KernelBody:
    """Write all elements as one row; lanes compute their coordinates if there are several dimensions."""
    target, index, loops = element.target, element.index, element.loops
    sizes = tuple(loops.sizes)
    several = len(sizes) > 1
    coordinates = declare_coordinates(sizes, "e", index) if several else []
    names: dict[int | str, str] = {dim: f"d{dim}" if several else "e" for dim in range(len(sizes))}
    line = dot(counters(sizes), row_major(sizes))
    blocks = element.blocks(count, lambda position: position.terms == line.terms)
    vectors = -(-count // target.lanes)
    width = target.tile(vectors) * target.lanes
    text = [
        *blocks.declarations,
        tile_number(target, index),
        f"  const {index} first = tile * ({index})width, "
        f"end = min_of(first + ({index})width, ({index})count);",
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
    tiles = -(-count // width)
    return KernelBody(text, ["count", "width"], [count, width], tiles, bool(blocks.chosen))
