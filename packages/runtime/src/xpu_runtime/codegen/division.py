"""The division of a kernel's work into tiles and groups, for given values of the program's symbols."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field

from .reciprocal import reciprocal_of
from .target import Target

# A launch's number of groups, and the kernel's size arguments.
Launch = tuple[int, tuple[int, ...]]


@dataclass(frozen=True)
class Division:
    """Plain data, whose repr evaluates to an equal division; any thread may use it.

    ``form`` is the kernel's: "line", "rows", "folds" or "columns". ``rows``, ``columns``, each of the
    ``divisors`` of positions, ``outer`` and ``inner`` are numbers and names of symbols, to be multiplied;
    divisors have no other symbols than rows and columns. ``items`` work-items share a row or tile, or are
    the columns of a block. ``outer`` and ``inner``: of folded columns, the outermost size, and the product of
    the others. ``overlap``: the last block of a row begins earlier if it would be narrower than the others.
    ``limit``: the most vectors of a tile's row, if not 0.
    """

    form: str
    rows: tuple[int | str, ...]
    columns: tuple[int | str, ...]
    items: int
    target: Target
    divisors: tuple[tuple[int | str, ...], ...] = ()
    outer: tuple[int | str, ...] = ()
    inner: tuple[int | str, ...] = ()
    overlap: bool = False
    limit: int = 0
    _symbols: tuple[str, ...] = field(init=False, repr=False, compare=False)

    @property
    def symbols(self) -> tuple[str, ...]:
        """The symbols whose values a launch needs."""
        return self._symbols

    def __post_init__(self) -> None:
        names = (
            name
            for name in (*self.rows, *self.columns, *self.outer, *self.inner)
            if isinstance(name, str)
        )
        object.__setattr__(self, "_symbols", tuple(dict.fromkeys(names)))

    def launch(self, values: Mapping[str, int]) -> Launch:
        """Return the number of groups and the size arguments; no groups if there are no elements.

        ``values`` has those of the program's symbols; it may have others.
        """
        rows, columns = _value(self.rows, values), _value(self.columns, values)
        tiles, sizes = _FORMS[self.form](self, rows, columns, values)
        for divisor in self.divisors:
            # Without elements, nothing is divided.
            sizes += reciprocal_of(_value(divisor, values) or 1)
        return -(-tiles // self.tiles_per_group), sizes

    @property
    def tiles_per_group(self) -> int:
        """A tile is a sub-group's, or that of a group whose items share rows."""
        is_shared = self.items > self.target.lanes and self.form != "columns"
        return 1 if is_shared else self.target.sub_groups

    def _line(self, rows: int, columns: int, values: Mapping[str, int]) -> Launch:
        count, lanes = rows * columns, self.target.lanes
        width = self.target.tile(-(-count // lanes)) * lanes
        return -(-count // width), (count, width)

    def _rows(self, rows: int, columns: int, values: Mapping[str, int]) -> Launch:
        if not rows or not columns:
            return 0, (0, 0, 0, 0)
        height, column_tiles, width = row_tiles(rows, columns, self.target, self.limit)
        # Without symbols, the kernel's code has the numbers of the columns' tiles.
        along = (column_tiles, width) if self._symbols else ()
        return column_tiles * -(-rows // height), (rows, height, *along)

    def _folds(self, rows: int, columns: int, values: Mapping[str, int]) -> Launch:
        steps = max(1, -(-columns // self.items))
        height = max(1, min(self.target.tile(rows * steps) // steps, rows))
        return -(-rows // height), (rows, height)

    def _columns(self, rows: int, columns: int, values: Mapping[str, int]) -> Launch:
        lanes, width, count = self.target.lanes, self.items, _value(self.outer, values)
        wide, per_row = column_blocks(columns, width, lanes, self.overlap)
        blocks = rows * per_row
        steps = max(1, count * _value(self.inner, values) * (width // lanes))
        height = max(1, min(self.target.tile(blocks * steps) // steps, blocks))
        along = (wide, per_row) if self._symbols else ()
        return -(-blocks // height), (blocks, height, count, *along)


_FORMS: dict[str, Callable[[Division, int, int, Mapping[str, int]], Launch]] = {
    "line": Division._line,
    "rows": Division._rows,
    "folds": Division._folds,
    "columns": Division._columns,
}


def column_blocks(columns: int, width: int, lanes: int, overlap: bool) -> tuple[int, int]:
    """Return the number of blocks of ``width`` columns in a row, and of all blocks: others are one vector."""
    if columns % width == 0 or (overlap and columns > width):
        blocks = -(-columns // width)
        return blocks, blocks
    wide = columns // width if width > lanes else 0
    return wide, wide + -(-(columns - wide * width) // lanes)


def row_tiles(rows: int, columns: int, target: Target, limit: int = 0) -> tuple[int, int, int]:
    """Return the height of tiles of rows, the number of tiles along a row, and their width."""
    row_vectors = -(-columns // target.lanes)
    length = target.tile(rows * row_vectors)
    column_tiles = -(-row_vectors // min(length, row_vectors, limit or length))
    vectors = -(-row_vectors // column_tiles)
    return max(1, min(length // vectors, rows)), column_tiles, vectors * target.lanes


def _value(factors: tuple[int | str, ...], values: Mapping[str, int]) -> int:
    product = 1
    for factor in factors:
        product *= values[factor] if isinstance(factor, str) else factor
    return product
