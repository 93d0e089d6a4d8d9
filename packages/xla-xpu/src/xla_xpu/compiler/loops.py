"""Writes the kernel of a fused computation: loops over its elements around the statements of one of them."""

from __future__ import annotations

import math
import re
from dataclasses import dataclass

from .affine import Affine, Coordinates, dot
from .elementwise import COMPLEX_HEADERS, HEADERS, store
from .emit import Emitter
from .plan import Buffer, View
from .types import row_major

# An inner loop shorter than this would leave most lanes idle.
SHORT = 16


@dataclass(frozen=True)
class Target:
    """The device a kernel is shaped for."""

    lanes: int
    units: int
    gpu: bool
    most_items: int

    @property
    def sub_groups(self) -> int:
        """In a work-group. On the CPU device a group is a task of a core, a sub-group its vector."""
        return max(1, min(self.most_items, 256) // self.lanes) if self.gpu else 1

    def tile(self, vectors: int) -> int:
        """Vectors that one sub-group walks."""
        shortest, longest, tiles = (
            (1, 16, self.units * 16) if self.gpu else (32, 2048, self.units * 8)
        )
        return min(max(-(-vectors // tiles), shortest), longest)


@dataclass
class Loops:
    """The space that is walked: its sizes with what can be joined joined, and each position in it."""

    sizes: list[int]
    positions: list[Affine]
    leading: int = 0


def counters(shape: tuple[int, ...]) -> Coordinates:
    """A coordinate for each dimension; none where there is but one element."""
    return tuple(Affine() if size == 1 else Affine.of(dim) for dim, size in enumerate(shape))


def join(shape: tuple[int, ...], positions: list[Affine], apart: int = 0) -> Loops:
    """Join neighbouring dimensions that every position walks as if they were one.

    Those before dimension ``apart`` stay apart from those after it; ``Loops.leading`` says how many they are.
    """
    dims = [dim for dim, size in enumerate(shape) if size != 1]
    groups: list[list[int]] = []
    for dim in dims:
        beside = groups and (groups[-1][-1] < apart) == (dim < apart)
        if beside and all(
            p.factor(groups[-1][-1]) == p.factor(dim) * shape[dim] for p in positions
        ):
            groups[-1].append(dim)
        else:
            groups.append([dim])
    sizes = [math.prod(shape[dim] for dim in group) for group in groups]
    joined = []
    for position in positions:
        terms: dict[int | str, int] = {
            number: position.factor(group[-1]) for number, group in enumerate(groups)
        }
        terms.update({c: f for c, f in position.terms if isinstance(c, str)})
        constant = Affine(position.constant)
        for counter, factor in terms.items():
            constant = constant + Affine.of(counter) * factor
        joined.append(constant)
    return Loops(sizes or [1], joined, sum(group[0] < apart for group in groups))


NOWHERE = Affine()


@dataclass(frozen=True)
class Output:
    """The name of an element, and the view whose element it becomes, ``shift`` further on."""

    name: str
    view: View
    shift: Affine = NOWHERE


@dataclass(frozen=True)
class Kernel:
    """A kernel's text, in which NAME stands for its name, and how it is launched."""

    text: str
    groups: int
    group: int
    bytes: int
    arguments: list[Buffer]
    in_place: list[Buffer]


def kernel(emitter: Emitter, outputs: list[Output], target: Target) -> Kernel:
    """The kernel that computes ``outputs``, which have one shape."""
    shape = outputs[0].view.shape
    stores, writes = [], [number for number, _ in emitter.stores]
    for output in outputs:
        view, variable = output.view, output.name
        place = dot(counters(shape), view.strides) + view.offset + output.shift
        number = emitter.argument(view.buffer, view.element)
        writes.append(number)
        stores.append(f"x{number}[{emitter.position(place)}] = {store(view.element, variable)};")
    loops = join(shape, emitter.positions)
    index = index_type(emitter, math.prod(shape))
    parameters = declared(emitter, set(writes))
    body, tiles = _body(loops, emitter.lines + stores, index, target)
    reads = sum(view.type.bytes for _, view, _ in emitter.loads)
    return Kernel(
        text=f"XPU_KERNEL(1) NAME({parameters}) {{\n{body}}}\n",
        groups=-(-tiles // target.sub_groups),
        group=target.lanes * target.sub_groups,
        bytes=reads + sum(output.view.type.bytes for output in outputs),
        arguments=[buffer for buffer, _ in emitter.buffers],
        in_place=_in_place(emitter, [output.view for output in outputs]),
    )


def index_type(emitter: Emitter, count: int) -> str:
    """What holds every position."""
    widest = max([count, *(buffer.bytes for buffer, _ in emitter.buffers)])
    return "i32" if widest < 2**31 else "i64"


def declared(emitter: Emitter, writes: set[int]) -> str:
    """The kernel's parameters."""
    return ", ".join(
        f"global<{'' if number in writes else 'const '}{element.stored}> x{number}"
        for number, (_, element) in enumerate(emitter.buffers)
    )


def _in_place(emitter: Emitter, outputs: list[View]) -> list[Buffer]:
    """Buffers of which each element is read only where, and before, an output of its size is written."""
    own = {dot(counters(view.shape), view.strides) for view in outputs if view.dense}
    sizes = {view.element.size for view in outputs}
    buffers = []
    for number, (buffer, element) in enumerate(emitter.buffers):
        loads = [place for load, _, place in emitter.loads if load == number]
        if loads and all(place in own for place in loads) and sizes == {element.size}:
            buffers.append(buffer)
    return buffers


def _body(loops: Loops, lines: list[str], index: str, target: Target) -> tuple[str, int]:
    """The text, and the number of tiles."""
    columns, rows = loops.sizes[-1], math.prod(loops.sizes[:-1])
    if columns < SHORT and rows > 1:
        return _flat(loops, lines, index, target)
    row_vectors = -(-columns // target.lanes)
    length = target.tile(row_vectors * rows)
    column_tiles = -(-row_vectors // min(length, row_vectors))
    vectors = -(-row_vectors // column_tiles)
    height = max(1, min(length // vectors, rows))
    tiles = column_tiles * -(-rows // height)
    last = len(loops.sizes) - 1
    names: dict[int | str, str] = {last: "c"}
    names |= {dim: f"d{dim}" for dim in range(last)}
    inner = placed(lines, loops.positions, names)
    text = [f"  const {index} tile = {tile_number(target, index)};"]
    if tiles % target.sub_groups:
        text.append(f"  if (tile >= {tiles}) return;")
    text.append(
        f"  const {index} first = tile % {column_tiles} * {vectors * target.lanes}, "
        f"end = min_of(first + {vectors * target.lanes}, ({index}){columns});"
    )
    if rows > 1:
        text.append(
            f"  for ({index} row = tile / {column_tiles} * {height}, "
            f"rows = min_of(row + {height}, ({index}){rows}); row < rows; ++row) {{"
        )
        text += divided(loops.sizes[:-1], "row", index)
    text.append(f"  auto element = [&]({index} c) __attribute__((always_inline)) {{")
    text += [f"    {line}" for line in inner]
    text.append("  };")
    text.append(f"  {index} e = first;")
    text.append("  for (; e + XPU_SUB_GROUP <= end; e += XPU_SUB_GROUP) element(e + lane());")
    if columns % target.lanes:
        text.append("  if (e + lane() < end) element(e + lane());")
    if rows > 1:
        text.append("  }")
    return "\n".join(text) + "\n", tiles


def _flat(loops: Loops, lines: list[str], index: str, target: Target) -> tuple[str, int]:
    """Each lane finds its own place: for rows that are shorter than a vector."""
    count = math.prod(loops.sizes)
    vectors = -(-count // target.lanes)
    length = target.tile(vectors)
    tiles = -(-vectors // length)
    names: dict[int | str, str] = {dim: f"d{dim}" for dim in range(len(loops.sizes))}
    inner = placed(lines, loops.positions, names)
    step = length * target.lanes
    text = [f"  const {index} tile = {tile_number(target, index)};"]
    text.append(
        f"  const {index} first = tile * {step}, end = min_of(first + {step}, ({index}){count});"
    )
    text.append(f"  auto element = [&]({index} e) __attribute__((always_inline)) {{")
    text += ["  " + line for line in divided(loops.sizes, "e", index)]
    text += [f"    {line}" for line in inner]
    text.append("  };")
    text.append(f"  {index} e = first;")
    text.append("  for (; e + XPU_SUB_GROUP <= end; e += XPU_SUB_GROUP) element(e + lane());")
    if count % step:
        text.append("  if (e + lane() < end) element(e + lane());")
    return "\n".join(text) + "\n", tiles


def tile_number(target: Target, index: str) -> str:
    if target.sub_groups == 1:
        return f"({index})group_id()"
    return f"({index})group_id() * {target.sub_groups} + sub_group_broadcast(sub_group_id())"


def divided(sizes: list[int], counter: str, index: str) -> list[str]:
    """Declares the coordinate of each dimension, d0 and on."""
    strides = row_major(tuple(sizes))
    lines = []
    for dim, (size, stride) in enumerate(zip(sizes, strides, strict=True)):
        text = counter if stride == 1 else f"{counter} / {stride}"
        lines.append(
            f"  [[maybe_unused]] const {index} d{dim} = {text if dim == 0 else f'({text}) % {size}'};"
        )
    return lines


def placed(lines: list[str], positions: list[Affine], names: dict[int | str, str]) -> list[str]:
    return [re.sub(r"@(\d+)@", lambda m: positions[int(m[1])].text(names), line) for line in lines]


def source(kernels: list[str], complex: bool) -> str:
    """The text of a module of kernels."""
    headers = ("group", *HEADERS, *(COMPLEX_HEADERS if complex else ()))
    text = "".join(f"#include <xpu/{header}.h>\n" for header in headers)
    return f"{text}using namespace xpu;\n" + "".join(kernels)
