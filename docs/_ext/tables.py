"""Markdown tables, for the directives and the table of the README."""

from __future__ import annotations

from collections.abc import Iterable


def cell(text: object) -> str:
    """Return the text of one cell, escaped."""
    return str(text).replace("|", "\\|").replace("\n", " ")


def table(columns: tuple[str, ...], rows: Iterable[tuple[str, ...]]) -> list[str]:
    """Return the lines of a table."""
    lines = [columns, ("---",) * len(columns), *rows]
    return ["| " + " | ".join(line) + " |" for line in lines]


def duration(seconds: float | None) -> str:
    """Return a time with the unit that suits its size; a dash for None."""
    if seconds is None:
        return "-"
    for unit, scale in (("s", 1.0), ("ms", 1e-3), ("µs", 1e-6)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-9:.3g} ns"
