"""Write a pointwise kernel that reads arrays across their rows: it transposes blocks into local memory.

Only CPUs get it. Neighboring lanes read neighboring elements, and a cache line that is read is used whole.
Registers transpose: gathers from local memory take twice the time.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

from .access import load_template
from .division import Division
from .loops import Loops
from .program import Array
from .render import Renderer
from .statements import Let, Load, Statement, Store, Term, walk
from .streaming_stores import Blocks
from .target import Target
from .tiles import KernelBody, declare_coordinates, loop_over, tile_number

# The elements of a block's row: one streaming store.
WIDTH = 128
# The bytes of a row that a block reads: several cache lines, so that the next is asked for with the first.
_READ_BYTES = 512


def transposed_loads(
    arrays: Sequence[Array], loops: Loops, statements: Sequence[Statement], target: Target
) -> list[Load]:
    """Return the loads to stage: contiguous along the last dimension but one, of arrays that nothing writes.

    There are none if a size is a symbol, or a dimension is too short for blocks.
    """
    sizes = [size for size in loops.sizes if isinstance(size, int)]
    last = len(loops.sizes) - 1
    if target.gpu or last < 1 or len(sizes) <= last:
        return []
    if sizes[last] < WIDTH or sizes[last - 1] < target.lanes:
        return []
    written = {s.array for s in walk(statements) if type(s) is Store}
    found = []
    for s in statements:
        if type(s) is Load and s.mask is None and s.array not in written:
            position = loops.positions[s.position]
            if position.factor(last) not in (0, 1) and position.is_unit_stride(last - 1):
                found.append(s)
    room = target.local_memory // 2
    size = sum(arrays[load.array].element.size for load in found)
    return found if size * WIDTH * target.lanes <= room else []


def write_transposed(
    arrays: Sequence[Array],
    loops: Loops,
    once: Sequence[Statement],
    blocks: Blocks,
    staged: Sequence[Load],
    target: Target,
    index: str,
    make_renderer: Callable[[dict[int | str, str]], Renderer],
) -> KernelBody:
    """Write blocks of ``target.lanes`` rows; ``blocks`` has the statements and the streaming stores.

    ``once`` defines what is the same for all elements. ``make_renderer`` takes the names of counters.
    """
    *outer, rows, columns = [size for size in loops.sizes if isinstance(size, int)]
    last = len(outer) + 1
    height = _height(math.prod(outer), rows, columns, [arrays[s.array] for s in staged], target)
    across, down = -(-columns // WIDTH), -(-rows // height)
    names: dict[int | str, str] = {dim: f"d{dim}" for dim in range(last)}
    names[last] = "e"
    renderer = make_renderer(names)
    text = [
        *blocks.declarations,
        *(
            f"static Local<{arrays[load.array].element.stored}, {WIDTH * height}> staged{number};"
            for number, load in enumerate(staged)
        ),
        tile_number(target, index),
        *renderer.lines(once),
        f"for ({index} block = tile * ({index})height, "
        f"last = min_of(block + ({index})height, ({index})blocks); block < last; ++block) {{",
        f"const {index} first = block % {across} * {WIDTH}, "
        f"end = min_of(first + {WIDTH}, ({index}){columns});",
        f"const {index} top = block / {across} % {down} * {height}, "
        f"bottom = min_of(top + {height}, ({index}){rows}), outside = block / {across * down};",
        *declare_coordinates(outer, "outside", index),
        f"{target.vector_loop} ({index} left = first; left < end; left += XPU_SUB_GROUP) {{",
        f"{target.vector_loop} ({index} v = 0; v < {height}; v += XPU_SUB_GROUP) {{",
        # Lanes beyond the last row read it again, as do columns: a condition would mask all loads.
        f"const {index} d{last - 1} = min_of(top + v + lane(), ({index}){rows - 1});",
    ]
    for number, load in enumerate(staged):
        stored, element = (
            arrays[load.array].element.stored,
            renderer.element(load.array, load.position),
        )
        text += _stage(number, stored, element, index, columns)
    text += ["} }", "sub_group_barrier();"]
    text.append(f"for ({index} d{last - 1} = top; d{last - 1} < bottom; ++d{last - 1}) {{")
    numbers = {load: number for number, load in enumerate(staged)}
    statements = [
        _staged(s, numbers[s], arrays, last) if s in numbers else s  # type: ignore[index]
        for s in blocks.statements
    ]
    taken = f"{index} e, i32 at" if blocks.chosen else f"{index} e"
    text.append(f"auto element = [&]({taken}) __attribute__((always_inline)) {{")
    text += [*renderer.body(statements), "};"]
    if blocks.chosen:
        text += blocks.loop(
            index, "first", "end", target.vector_loop, lambda at: loops.positions[at].text(names)
        )
    else:
        call = "element(e + lane());"
        text += loop_over(call, index, columns, target, "first", "end")
    text += ["}", "sub_group_barrier();", "}", *blocks.final_statements]
    count = math.prod(outer) * down * across
    division = Division("folds", (count,), (WIDTH * height,), target.lanes, target)
    return KernelBody(text, ["blocks", "height"], division, (*blocks.headers, "transpose"))


def _height(outer: int, rows: int, columns: int, staged: Sequence[Array], target: Target) -> int:
    """Return the rows of a block: whole vectors, fewer where blocks would be too large or too few."""
    sizes = [array.element.size for array in staged]
    height = max(target.lanes, _READ_BYTES // max(sizes))

    def fits(height: int) -> bool:
        blocks = outer * -(-rows // height) * -(-columns // WIDTH)
        is_small = sum(sizes) * WIDTH * height <= target.local_memory // 2
        return is_small and blocks >= target.tiles

    while height > target.lanes and not fits(height):
        height = max(target.lanes, height // 2)
    return height


def _stage(number: int, stored: str, element: str, index: str, columns: int) -> list[str]:
    """Return what transposes a square of ``element``, a function of column e, into local memory."""
    each = "unrolled<XPU_SUB_GROUP>([&](auto k) XPU_INLINE {"
    place = f"(v + decltype(k)()) * {WIDTH} + left - first + lane()"
    return [
        f"Array<{stored}, XPU_SUB_GROUP> square{number};",
        each,
        f"const {index} e = min_of(left + ({index})decltype(k)(), ({index}){columns - 1});",
        f"square{number}[k] = {element}; }});",
        f"transpose_lanes(square{number});",
        f"{each} staged{number}[{place}] = square{number}[k]; }});",
    ]


def _staged(load: Load, number: int, arrays: Sequence[Array], last: int) -> Let:
    """Return the definition of a loaded value from local memory."""
    element = arrays[load.array].element
    place = f"staged{number}[(d{last - 1} - top) * {WIDTH} + e - first]"
    return Let(load.name, element.math, Term(load_template(element).format(place)))
