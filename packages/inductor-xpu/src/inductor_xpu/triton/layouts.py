"""Layouts: which work-item has which element of a tile, bit by bit.

The sizes of tiles are powers of two, so that a coordinate is made of bits. A layout gives each bit to a
bit of
the lane's number, to a bit of the team's number (a team is a sub-group of the work-group), or to a bit of the
number of a register. Shape operations such as a transposition only rename bits.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass

LANE, TEAM = "lane_id", "team_id"


@dataclass(frozen=True)
class Bit:
    """A bit of a counter: of the lane's number, the team's, or a loop's."""

    variable: str
    index: int


# What a bit of a coordinate is: a bit of a counter, or a constant.
Source = Bit | int
# The bits of each coordinate, lowest first.
Position = tuple[tuple[Source, ...], ...]
# A bit of a tile's coordinates: the dimension and the number of the bit.
Place = tuple[int, int]


def bits_of(size: int) -> int:
    """Return the number of bits of a coordinate below a power of two."""
    return size.bit_length() - 1


@dataclass(frozen=True)
class Layout:
    """Where the elements of a tile are. A lane's or team's bit with None repeats the elements."""

    shape: tuple[int, ...]
    lanes: tuple[Place | None, ...]
    teams: tuple[Place | None, ...]
    registers: tuple[Place, ...]

    @property
    def size(self) -> int:
        """The number of elements that a work-item has."""
        return 1 << len(self.registers)

    @property
    def structure(self) -> tuple[object, ...]:
        """What two layouts have in common whose tiles differ only by dimensions of size 1."""
        numbers: dict[Place | None, int | None] = {None: None}
        for dim, size in enumerate(self.shape):
            for bit in range(bits_of(size)):
                numbers[dim, bit] = len(numbers)
        return (
            tuple(numbers[place] for place in self.lanes),
            tuple(numbers[place] for place in self.teams),
            tuple(numbers[place] for place in self.registers),
        )

    def position(self, registers: Callable[[int], Source]) -> Position:
        """Return the coordinates of an element, given the source of each bit of the register's number."""
        found: list[list[Source]] = [[0] * bits_of(size) for size in self.shape]
        for variable, places in ((LANE, self.lanes), (TEAM, self.teams)):
            for index, place in enumerate(places):
                if place is not None:
                    found[place[0]][place[1]] = Bit(variable, index)
        for index, (dim, bit) in enumerate(self.registers):
            found[dim][bit] = registers(index)
        return tuple(map(tuple, found))

    def register_bits(self, position: Position) -> tuple[Source, ...] | None:
        """Return the bits of the number of an element's register; None if another work-item has it."""
        for variable, places in ((LANE, self.lanes), (TEAM, self.teams)):
            for index, place in enumerate(places):
                if place is not None and position[place[0]][place[1]] != Bit(variable, index):
                    return None
        sources = tuple(position[dim][bit] for dim, bit in self.registers)
        if any(isinstance(s, Bit) and s.variable in (LANE, TEAM) for s in sources):
            return None
        return sources

    def axis_registers(self, axis: int) -> tuple[int, ...]:
        """Return the numbers of the register bits along a dimension."""
        return tuple(i for i, place in enumerate(self.registers) if place[0] == axis)

    def _renamed(self, shape: tuple[int, ...], names: Mapping[Place, Place]) -> Layout:
        """Return the layout of a tile whose bits have other names; bits without a name are gone."""
        return Layout(
            shape,
            tuple(None if place is None else names.get(place) for place in self.lanes),
            tuple(None if place is None else names.get(place) for place in self.teams),
            tuple(names[place] for place in self.registers if place in names),
        )

    def without(self, axis: int) -> Layout:
        """Return the layout of a tile without a dimension; the lanes along it repeat the elements."""
        names = {
            (dim, bit): (dim - (dim > axis), bit)
            for dim, size in enumerate(self.shape)
            for bit in range(bits_of(size))
            if dim != axis
        }
        return self._renamed(self.shape[:axis] + self.shape[axis + 1 :], names)

    def expanded(self, axis: int) -> Layout:
        """Return the layout of a tile with one more dimension, of size 1."""
        names = {
            (dim, bit): (dim + (dim >= axis), bit)
            for dim, size in enumerate(self.shape)
            for bit in range(bits_of(size))
        }
        return self._renamed((*self.shape[:axis], 1, *self.shape[axis:]), names)

    def projected(self, shape: tuple[int, ...]) -> Layout:
        """Return the layout of a tile that is broadcast to this one: of size 1 where the shapes differ."""
        names = {
            (dim, bit): (dim, bit)
            for dim, size in enumerate(self.shape)
            for bit in range(bits_of(size))
            if shape[dim] == size
        }
        return self._renamed(shape, names)

    def transposed(self, order: tuple[int, ...]) -> Layout:
        """Return the layout of a tile whose dimension ``i`` is this one's ``order[i]``."""
        names = {
            (source, bit): (dim, bit)
            for dim, source in enumerate(order)
            for bit in range(bits_of(self.shape[source]))
        }
        return self._renamed(tuple(self.shape[source] for source in order), names)

    def reshaped(self, shape: tuple[int, ...]) -> Layout:
        """Return the layout of a tile with the same elements in the same order."""
        names = dict(zip(_row_major(self.shape), _row_major(shape), strict=True))
        return self._renamed(shape, names)


def _row_major(shape: tuple[int, ...]) -> Iterable[Place]:
    """Iterate over a tile's bits from the lowest of an element's number in row-major order."""
    for dim in reversed(range(len(shape))):
        for bit in range(bits_of(shape[dim])):
            yield dim, bit


def default_layout(
    shape: tuple[int, ...], order: tuple[int, ...], lanes: int, teams: int
) -> Layout:
    """Return a tile's layout: lanes along the first dimensions of ``order``, teams along the last.

    ``lanes`` and ``teams`` are powers of two.
    """
    places = [(dim, bit) for dim in order for bit in range(bits_of(shape[dim]))]
    lane_places, rest = places[: bits_of(lanes)], places[bits_of(lanes) :]
    count = min(bits_of(teams), len(rest))
    registers, team_places = rest[: len(rest) - count], rest[len(rest) - count :]
    return Layout(
        shape,
        _filled(lane_places, bits_of(lanes)),
        _filled(team_places, bits_of(teams)),
        tuple(registers),
    )


def _filled(places: list[Place], count: int) -> tuple[Place | None, ...]:
    return tuple([*places, *[None] * (count - len(places))])


def reshape_position(
    position: Position, shape: tuple[int, ...], source: tuple[int, ...]
) -> Position:
    """Return where the element of a tile of ``shape`` is in the tile of shape ``source`` before a reshape."""
    found: list[list[Source]] = [[0] * bits_of(size) for size in source]
    for (dim, bit), (to, at) in zip(_row_major(shape), _row_major(source), strict=True):
        found[to][at] = position[dim][bit]
    return tuple(map(tuple, found))


def number_text(sources: Iterable[Source], widths: Mapping[str, int]) -> str:
    """Return the C++ text of the number with these bits, lowest first; ``widths`` of the counters in bits.

    Neighboring bits of a counter are taken together.
    """
    bits = tuple(sources)
    terms: list[str] = []
    constant, at = 0, 0
    while at < len(bits):
        source = bits[at]
        if isinstance(source, int):
            constant |= source << at
            at += 1
            continue
        count = 1
        while at + count < len(bits) and bits[at + count] == Bit(
            source.variable, source.index + count
        ):
            count += 1
        terms.append(_run(source, count, at, widths[source.variable]))
        at += count
    if constant:
        terms.append(str(constant))
    if not terms:
        return "0"
    return terms[0] if len(terms) == 1 else f"({' + '.join(terms)})"


def _run(source: Bit, count: int, shift: int, width: int) -> str:
    text = source.variable
    if source.index:
        text = f"({text} >> {source.index})"
    if source.index + count < width:
        text = f"({text} & {(1 << count) - 1})"
    return f"{text} * {1 << shift}" if shift else text


def row_major_text(position: Position, widths: Mapping[str, int]) -> str:
    """Return the C++ text of an element's number in row-major order."""
    return number_text((source for dim in reversed(position) for source in dim), widths)
