"""Loops of work-items over tiles, as C++ text."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from .affine import row_major
from .program import Array
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
    names: list[str]
    sizes: list[int]
    tiles: int
    streams: bool = False  # uses streaming stores


def index_type(arrays: Sequence[Array], count: int) -> str:
    """Return the type of positions, including those of a last tile that end beyond the array."""
    widest = max([count, *(array.bytes for array in arrays)])
    return "i32" if widest < 2**31 - 2**24 else "i64"


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


def declare_coordinates(
    sizes: Sequence[int], counter: str, index: str, prefix: str = "d"
) -> list[str]:
    """Return declarations of the coordinates d0, d1, ..., computed from ``counter``."""
    lines = []
    for dim, (size, stride) in enumerate(zip(sizes, row_major(tuple(sizes)), strict=True)):
        text = counter if stride == 1 else f"{counter} / {stride}"
        value = text if dim == 0 else f"({text}) % {size}"
        lines.append(f"  [[maybe_unused]] const {index} {prefix}{dim} = {value};")
    return lines
