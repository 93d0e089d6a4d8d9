"""Loops of work-items over tiles, as C++ text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .affine import row_major
from .division import Division
from .program import LoopProgram
from .sizes import Extent, hint_of
from .target import Target


@dataclass(frozen=True)
class Team:
    """The work-items that share a row or a tile: their number, and C++ text of it and of an item's index."""

    items: int
    count: str = "XPU_SUB_GROUP"
    own: str = "lane()"


@dataclass(frozen=True)
class KernelBody:
    """A kernel's body with its size arguments, which let one source serve many shapes."""

    lines: list[str]
    names: list[str]  # of the size arguments
    division: Division
    streams: bool = False  # uses streaming stores


# The maximum number of elements or bytes for positions of 32 bits: those of a last tile end beyond the array.
MAX_NARROW = 2**31 - 2**24 - 1


def index_type(program: LoopProgram) -> str:
    """Return the type of positions."""
    if program.wide is not None:
        return "i64" if program.wide else "i32"
    count = hint_of(math.prod(program.shape))
    widest = max([count, *(array.bytes or 0 for array in program.arrays)])
    return "i32" if widest <= MAX_NARROW else "i64"


def loop_over(
    call: str,
    index: str,
    count: Extent,
    target: Target,
    first: str,
    end: str,
    team: Team | None = None,
) -> list[str]:
    """Return a loop of calls for the elements from ``first`` to ``end``, without a part that never runs.

    There are ``count`` elements, of which a tile has all or a multiple of ``team.items``.
    """
    team = team or Team(target.lanes)
    text = [f"  {{ {index} e = {first};"]
    if not isinstance(count, int) or count >= team.items:
        text.append(
            f"  {target.vector_loop} (; e + {team.count} <= {end}; e += {team.count}) {call}"
        )
    if not isinstance(count, int) or count % team.items:
        text.append(f"  if (e + {team.own} < {end}) {call}")
    return [*text, "  }"]


def tile_number(target: Target, index: str) -> str:
    """Return the declaration of a sub-group's tile number. A tile beyond the last one has no elements."""
    number = f"({index})group_id()"
    if target.sub_groups > 1:
        number += f" * {target.sub_groups} + sub_group_broadcast(sub_group_id())"
    return f"  const {index} tile = {number};"


def declare_coordinates(
    sizes: Sequence[Extent], counter: str, index: str, prefix: str = "d"
) -> list[str]:
    """Return declarations of the coordinates d0, d1, ..., computed from ``counter``."""
    lines = []
    for dim, (size, stride) in enumerate(zip(sizes, row_major(tuple(sizes)), strict=True)):
        text = counter if stride == 1 else f"{counter} / {stride}"
        value = text if dim == 0 else f"({text}) % {size}"
        lines.append(f"  [[maybe_unused]] const {index} {prefix}{dim} = {value};")
    return lines
