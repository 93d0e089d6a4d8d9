"""Write the source of a fused kernel: loops around the statements of one element."""

from __future__ import annotations

import math
import re
from collections.abc import Callable
from dataclasses import dataclass

from .affine import Affine, dot
from .byte_loads import load_words
from .elementwise import headers_of, store
from .emit import Emitter
from .plan import Buffer, View
from .space import SHORT, Loops, counters, join
from .streaming_stores import Blocks, Store, blocks_of
from .types import row_major


@dataclass(frozen=True)
class Target:
    """The properties of the device for which a kernel is written."""

    lanes: int
    units: int
    gpu: bool
    max_items: int
    local_memory: int

    @property
    def sub_groups(self) -> int:
        """Sub-groups per work-group. On the CPU device a work-group is one sub-group."""
        return max(1, min(self.max_items, 256) // self.lanes) if self.gpu else 1

    @property
    def vector_loop(self) -> str:
        """The keyword of vector loops, on CPUs with a pragma: compiling unrolled loops takes too long."""
        return "for" if self.gpu else '_Pragma("clang loop unroll(disable)") for'

    def cache_bytes(self, columns: int) -> int:
        """Return the bytes of local memory per element of a row; on GPUs a group uses a quarter of it."""
        rows = self.sub_groups if columns < self.lanes * self.sub_groups else 1
        room = self.local_memory // 4 if self.gpu else self.local_memory * 15 // 16
        return room // (rows * columns)

    def tile(self, vectors: int) -> int:
        """Return the number of vectors that one sub-group processes."""
        min_tile, max_tile, tiles = (
            (1, 16, self.units * 16) if self.gpu else (32, 2048, self.units * 8)
        )
        return min(max(-(-vectors // tiles), min_tile), max_tile)


NO_SHIFT = Affine()


@dataclass(frozen=True)
class Output:
    """An output: the name of the computed element, and its view, offset by ``shift``."""

    name: str
    view: View
    shift: Affine = NO_SHIFT


@dataclass(frozen=True)
class KernelBody:
    """A kernel's body with its size arguments, which let one source serve many shapes."""

    lines: list[str]
    names: list[str]
    sizes: list[int]
    tiles: int


@dataclass(frozen=True)
class Kernel:
    """A kernel's source, in which NAME is a placeholder for its name, and its launch parameters."""

    text: str
    groups: int
    group: int
    bytes: int
    arguments: list[Buffer]
    sizes: list[int]
    in_place: list[Buffer]


def write_kernel(emitter: Emitter, outputs: list[Output], target: Target) -> Kernel:
    """Write the kernel that computes ``outputs``, which have one shape."""
    shape = outputs[0].view.shape
    views = [output.view for output in outputs]
    stores = []
    for output in outputs:
        view, variable = output.view, output.name
        place = dot(counters(shape), view.strides) + view.offset + output.shift
        number = emitter.argument(view.buffer, view.element)
        value = store(view.element, variable)
        stores.append(Store(number, view.element.stored, emitter.position(place), value))
    loops = join(shape, emitter.positions)
    index = index_type(emitter, math.prod(shape))
    lines = emitter.lines
    if not target.gpu:
        loops, lines, stores = load_words(emitter, stores, loops, index)
    streamed = [] if target.gpu or emitter.stores else views
    body = _write_rows(_Body(loops, lines, stores, streamed), index, target)
    return assemble_kernel(emitter, body, views, target, _in_place(emitter, views))


def assemble_kernel(
    emitter: Emitter, body: KernelBody, outputs: list[View], target: Target, in_place: list[Buffer]
) -> Kernel:
    """Complete a body to a kernel."""
    writes = {number for number, _ in emitter.stores}
    writes |= {emitter.argument(view.buffer, view.element) for view in outputs}
    arrays = [
        f"global<{'' if number in writes else 'const '}{element.stored}> x{number}"
        for number, (_, element) in enumerate(emitter.buffers)
    ]
    parameters = ", ".join(arrays + [f"i64 {name}" for name in body.names])
    views = [view for _, view, _ in emitter.loads] + outputs
    return Kernel(
        text="\n".join([f"XPU_KERNEL(1) NAME({parameters}) {{", *body.lines, "}", ""]),
        groups=-(-body.tiles // target.sub_groups),
        group=target.lanes * target.sub_groups,
        bytes=sum(view.type.bytes for view in views),
        arguments=[buffer for buffer, _ in emitter.buffers],
        sizes=body.sizes,
        in_place=in_place,
    )


def index_type(emitter: Emitter, count: int) -> str:
    """Return the type of positions, including those of a last tile that end beyond the array."""
    widest = max([count, *(buffer.bytes for buffer, _ in emitter.buffers)])
    return "i32" if widest < 2**31 - 2**24 else "i64"


def _in_place(emitter: Emitter, outputs: list[View]) -> list[Buffer]:
    """Return the buffers that the outputs may overwrite: each element is read only where it is written."""
    own = {dot(counters(view.shape), view.strides) for view in outputs if view.contiguous}
    sizes = {view.element.size for view in outputs}
    buffers = []
    for number, (buffer, element) in enumerate(emitter.buffers):
        loads = [place for load, _, place in emitter.loads if load == number]
        if loads and all(place in own for place in loads) and sizes == {element.size}:
            buffers.append(buffer)
    return buffers


@dataclass(frozen=True)
class _Body:
    """The statements and stores of an element; ``streamed``: results that may use streaming stores."""

    loops: Loops
    lines: list[str]
    stores: list[Store]
    streamed: list[View]

    def blocks(self, count: int, fits: Callable[[Affine], bool]) -> Blocks:
        positions = self.loops.positions
        return blocks_of(
            self.stores,
            self.streamed,
            count,
            lambda position: fits(positions[int(position.strip("@"))]),
        )

    def substitute_positions(self, lines: list[str], names: dict[int | str, str]) -> list[str]:
        return substitute_positions(lines, self.loops.positions, names)


def _write_rows(body: _Body, index: str, target: Target) -> KernelBody:
    """Write tiles of rows, or of parts of a row; the outermost size is an argument."""
    sizes = body.loops.sizes
    columns, rows = sizes[-1], math.prod(sizes[:-1])
    last = len(sizes) - 1
    if rows == 1 or columns < SHORT:
        return _write_line(body, columns * rows, index, target)
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
    text += declare_coordinates(sizes[:-1], "row", index)
    blocks = body.blocks(columns, lambda position: position.is_unit_stride(last))
    text += _element(
        body.substitute_positions(body.lines + blocks.statements, names), index, blocks
    )
    if blocks:
        text += body.substitute_positions(blocks.loop(index, first, end, target.vector_loop), names)
    else:
        text += loop_over("element(e + lane());", index, columns, target, first, end)
    text.append("  }")
    return KernelBody(
        [*blocks.declarations, tile_number(target, index), *text, *blocks.final_statements],
        ["rows", "height"],
        [rows, height],
        column_tiles * -(-rows // height),
    )


def _write_line(body: _Body, count: int, index: str, target: Target) -> KernelBody:
    """Write all elements as one row; lanes compute their coordinates if there are several dimensions."""
    sizes = body.loops.sizes
    several = len(sizes) > 1
    own = declare_coordinates(sizes, "e", index) if several else []
    names: dict[int | str, str] = {dim: f"d{dim}" if several else "e" for dim in range(len(sizes))}
    line = dot(counters(tuple(sizes)), row_major(tuple(sizes)))
    blocks = body.blocks(count, lambda position: position.terms == line.terms)
    vectors = -(-count // target.lanes)
    width = target.tile(vectors) * target.lanes
    text = [
        *blocks.declarations,
        tile_number(target, index),
        f"  const {index} first = tile * ({index})width, "
        f"end = min_of(first + ({index})width, ({index})count);",
        *_element(
            own + body.substitute_positions(body.lines + blocks.statements, names), index, blocks
        ),
    ]
    if blocks:
        constants = [Affine.of("e") + position.constant for position in body.loops.positions]
        loop = blocks.loop(index, "first", "end", target.vector_loop)
        text += [*substitute_positions(loop, constants, {}), *blocks.final_statements]
    else:
        text += loop_over("element(e + lane());", index, count, target, "first", "end")
    return KernelBody(text, ["count", "width"], [count, width], -(-count // width))


def _element(lines: list[str], index: str, blocks: Blocks) -> list[str]:
    """Return the lambda that computes one element."""
    taken = f"{index} e, i32 at" if blocks else f"{index} e"
    head = f"  auto element = [&]({taken}) __attribute__((always_inline)) {{"
    return [head, *(f"    {line}" for line in lines), "  };"]


@dataclass(frozen=True)
class Team:
    """The work-items that share a row or a tile: their number, and C++ text of it and of an item's index."""

    items: int
    count: str = "XPU_SUB_GROUP"
    own: str = "lane()"


def loop_over(
    call: str,
    index: str,
    count: int,
    target: Target,
    first: str,
    end: str,
    team: Team | None = None,
) -> list[str]:
    """Return a loop of calls for the elements from ``first`` to ``end``, without a tail if none occurs."""
    team = team or Team(target.lanes)
    text = [f"  {{ {index} e = {first};"]
    if count >= team.items:
        text.append(
            f"  {target.vector_loop} (; e + {team.count} <= {end}; e += {team.count}) {call}"
        )
    if count % team.items:
        text.append(f"  if (e + {team.own} < {end}) {call}")
    return [*text, "  }"]


def tile_number(target: Target, index: str) -> str:
    """Return the declaration of a sub-group's tile number. A tile beyond the last one has no elements."""
    number = f"({index})group_id()"
    if target.sub_groups > 1:
        number += f" * {target.sub_groups} + sub_group_broadcast(sub_group_id())"
    return f"  const {index} tile = {number};"


def declare_coordinates(sizes: list[int], counter: str, index: str) -> list[str]:
    """Return declarations of the coordinates d0, d1, ..., computed from ``counter``."""
    strides = row_major(tuple(sizes))
    lines = []
    for dim, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        text = counter if stride == 1 else f"{counter} / {stride}"
        lines.append(
            f"  [[maybe_unused]] const {index} d{dim} = {text if dim == 0 else f'({text}) % {size}'};"
        )
    return lines


def substitute_positions(
    lines: list[str], positions: list[Affine], names: dict[int | str, str]
) -> list[str]:
    """Return the lines with each placeholder ``@n@`` replaced by the C++ text of ``positions[n]``."""
    return [re.sub(r"@(\d+)@", lambda m: positions[int(m[1])].text(names), line) for line in lines]


def module_source(kernels: list[str], complex: bool) -> str:
    """Return the source of a module of kernels."""
    body = "".join(kernels)
    headers = ["group", *headers_of(body, complex)]
    if "streaming_store" in body:
        headers.append("streaming_store")
    text = "#define XPU_SIZED_FOR_DEVICE\n" if "row_offset" in body else ""
    text += "".join(f"#include <xpu/{header}.h>\n" for header in headers)
    return f"{text}using namespace xpu;\n{body}"
