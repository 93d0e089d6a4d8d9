"""Loops of work-items over tiles, as C++ text."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

from .affine import Affine, row_major
from .division import Division
from .program import LoopProgram
from .sizes import Extent, factors, hint_of, symbols_of
from .statements import For, Operand, positions_of, walk
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
    headers: tuple[str, ...] = ()  # of the device library, besides those of the program


# The maximum number of elements or bytes for positions of 32 bits: those of a last tile end beyond the array.
MAX_NARROW = 2**31 - 2**24 - 1


def index_type(program: LoopProgram) -> str:
    """Return the type of positions."""
    if program.wide is not None:
        return "i64" if program.wide else "i32"
    count = hint_of(math.prod(program.shape))
    widest = max([count, _extent(program), *(array.bytes or 0 for array in program.arrays)])
    return "i32" if widest <= MAX_NARROW else "i64"


def _extent(program: LoopProgram) -> int:
    """Return the largest absolute value that loops give to a position or to one of its terms.

    Coordinates of what is computed, not loaded, may be far larger than memory.
    """
    sizes: dict[int | str, Extent] = dict(enumerate(program.shape))
    found: dict[Affine, None] = {}
    for section in program.sections:
        updates = [statement for fold in section.folds for statement in fold.update]
        for body in (section.per_element, updates, section.per_row):
            found |= positions_of(body)
            loops = (statement for statement in walk(body) if isinstance(statement, For))
            sizes |= {loop.counter: _decimal(loop.end) for loop in loops}
    return max(
        (
            abs(position.constant)
            + sum(
                abs(hint_of(factor)) * (hint_of(sizes.get(counter, 1)) - 1)
                for counter, factor in position.terms
            )
            for position in found
        ),
        default=0,
    )


def _decimal(end: Operand) -> int:
    return int(end) if isinstance(end, str) and end.isdecimal() else 1


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


@dataclass(frozen=True)
class Divisors:
    """The divisions by symbols in the coordinates of each lane, which multiply by reciprocals.

    ``strides`` are those of all dimensions but the last one; numbers need no arguments.
    """

    strides: Sequence[Extent]

    @classmethod
    def of(cls, sizes: Sequence[Extent], index: str) -> Divisors:
        """Return those of positions of 32 bits; there are none without symbols."""
        strides = row_major(sizes)[:-1] if index == "i32" else ()
        return cls(strides if any(symbols_of(stride) for stride in strides) else ())

    @property
    def names(self) -> list[str]:
        """The kernel's arguments for them."""
        found = [dim for dim, stride in enumerate(self.strides) if symbols_of(stride)]
        return [f"{name}{dim}" for dim in found for name in ("multiplier", "shift")]

    @property
    def headers(self) -> tuple[str, ...]:
        """The header that the coordinates need."""
        return ("divide",) if self.strides else ()

    @property
    def factors(self) -> tuple[tuple[int | str, ...], ...]:
        """The symbols' strides as plain data."""
        return tuple(factors(stride) for stride in self.strides if symbols_of(stride))

    def declare_coordinates(self, counter: str, prefix: str) -> list[str]:
        """Return declarations of the coordinates, computed from ``counter``."""
        lines, rest = [], counter
        for dim, stride in enumerate(self.strides):
            name, quotient = f"{prefix}{dim}", f"{rest} / {stride}"
            if symbols_of(stride):
                quotient = f"divide({rest}, {{(u32)multiplier{dim}, (u32)shift{dim}}})"
            lines.append(
                f"  const i32 {name} = {quotient}, rest{dim} = {rest} - {name} * {stride};"
            )
            rest = f"rest{dim}"
        return [*lines, f"  [[maybe_unused]] const i32 {prefix}{len(self.strides)} = {rest};"]


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
