"""Show rows as a table on a terminal, or as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from .measure import Row

SCALES = {
    "s": (("s", 1.0), ("ms", 1e-3), ("us", 1e-6), ("ns", 1e-9)),
    "B": (("MiB", 2.0**20), ("KiB", 2.0**10), ("B", 1.0)),
    "x": (("x", 1.0),),
}


def quantity(value: float | None, of: str) -> str:
    """Return a value in seconds (``s``), bytes (``B``) or others' (``x``), with the unit for its size."""
    if not value:
        return "-"
    scales = SCALES[of]
    unit, scale = next((pair for pair in scales if value >= pair[1]), scales[-1])
    return f"{value / scale:.3g} {unit}"


def cells(row: Row) -> tuple[str, ...]:
    """Return the texts of a row, in the order of :data:`COLUMNS`."""
    return (
        row.name,
        quantity(row.ours, row.unit),
        quantity(row.peer, row.unit),
        row.peer_name or "-",
        "-" if row.ratio is None else f"{row.ratio:.3g}",
        "-" if row.spread is None else f"{row.spread[0]:.3g} … {row.spread[1]:.3g}",
        row.bar or "-",
        "" if row.bar is None else "yes" if row.ok else "NO",
    )


COLUMNS = ("case", "ours", "peer", "peer is", "ratio", "middle half", "bar", "cleared")


def print_table(title: str, rows: Iterable[Row]) -> None:
    """Print the rows to the terminal; those that missed their bar are red."""
    table = Table(title=title, title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="left" if column in ("case", "peer is") else "right")
    for row in rows:
        table.add_row(*cells(row), style=None if row.ok else "bold red")
    Console().print(table)


def markdown_table(rows: Iterable[Row]) -> str:
    """Return the rows in Markdown, with the terminal's columns, for a page of the documentation."""
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines)
