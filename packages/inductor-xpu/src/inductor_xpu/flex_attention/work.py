"""How much of the queries and keys a work-group takes, by the device."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import product

from xpu_runtime.codegen.target import Target

# Parts of few queries' keys, as in decoding, each of so many tiles of keys at least.
MAX_PARTS, MIN_TILES = 64, 2
# Sums that a lane has at once. The registers of a CPU with AVX2 hold four, each of them two registers.
ROWS = 4


@dataclass(frozen=True)
class Work:
    """A group takes ``vectors`` vectors of columns in ``teams`` sub-groups, and tiles of ``rows`` rows."""

    vectors: int
    teams: int
    rows: int


def padded(count: int) -> int:
    """Return a number of rows of which each step takes ROWS."""
    return -(-count // ROWS) * ROWS


def choose_work(
    target: Target, columns: int, rows: int, columns_bytes: int, rows_bytes: int, bytes: int
) -> Work:
    """Return the largest division that fits local memory; raise NotImplementedError if there is none.

    ``columns`` and ``rows`` are upper bounds. Local memory has ``columns_bytes`` for each lane of a vector,
    ``rows_bytes`` for each row of a tile, and ``bytes`` for each row and lane of a sub-group.
    """
    lanes = target.lanes
    heights, widths = (
        ((32, 16, 8, 4), (8, 4, 2, 1)) if target.gpu else ((64, 32, 16, 8, 4), (4, 2, 1))
    )
    for height, vectors in product(heights, widths):
        has_idle_vectors = vectors > 1 and vectors // 2 * lanes >= columns
        if has_idle_vectors or vectors * lanes > target.max_items:
            continue
        height = min(height, padded(max(rows, 1)))
        teams = vectors if target.gpu else 1
        needed = vectors * lanes * columns_bytes + height * rows_bytes
        needed += teams * lanes * height * bytes
        if needed <= target.local_memory:
            return Work(vectors, teams, height)
    raise NotImplementedError("flex attention with heads that local memory does not hold")


def choose_parts(target: Target, groups: int, row_tiles: int) -> int:
    """Return how many groups share the rows of a column, so that the units of a device have work."""
    wanted = -(-target.units // max(groups, 1))
    return max(1, min(wanted, row_tiles // MIN_TILES, MAX_PARTS))
