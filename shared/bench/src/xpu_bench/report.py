"""Shows rows: as a table on a terminal, as a page of the documentation."""

from __future__ import annotations

from collections.abc import Iterable

from rich.console import Console
from rich.table import Table

from .measure import Row


def duration(seconds: float | None) -> str:
    if not seconds:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("us", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"


def cells(row: Row) -> tuple[str, ...]:
    """The texts of a row, in the order of :data:`COLUMNS`."""
    return (
        row.name,
        duration(row.ours),
        duration(row.peer),
        row.peer_name or "-",
        "-" if row.ratio is None else f"{row.ratio:.3g}",
        "-" if row.spread is None else f"{row.spread[0]:.3g} … {row.spread[1]:.3g}",
        row.bar or "-",
        "" if row.bar is None else "yes" if row.ok else "NO",
    )


COLUMNS = ("case", "ours", "peer", "peer is", "ratio", "middle half", "bar", "cleared")


def print_table(title: str, rows: Iterable[Row]) -> None:
    table = Table(title=title, title_justify="left")
    for column in COLUMNS:
        table.add_column(column, justify="left" if column in ("case", "peer is") else "right")
    for row in rows:
        table.add_row(*cells(row), style=None if row.ok else "bold red")
    Console().print(table)


def markdown_table(rows: Iterable[Row]) -> str:
    lines = ["| " + " | ".join(COLUMNS) + " |", "|" + "---|" * len(COLUMNS)]
    lines += ["| " + " | ".join(cells(row)) + " |" for row in rows]
    return "\n".join(lines)
