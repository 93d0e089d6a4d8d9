"""How commands print: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

console = Console(highlight=False)


def table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; nothing when it has no rows."""
    shown = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(str(cell)) for cell in row))  # Text: no markup in it
    if shown.row_count:
        console.print(shown)


def to_json(value: Any) -> str:
    """JSON as every command writes it."""
    return json.dumps(value, indent=1, default=str)


def as_json(value: Any) -> None:
    """Print JSON and nothing else."""
    print(to_json(value))


def size(bytes_: float) -> str:
    """Bytes in the unit that reads best."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if bytes_ < 1024 or unit == "GiB":
            return f"{bytes_:.0f} {unit}" if unit == "B" else f"{bytes_:.1f} {unit}"
        bytes_ /= 1024
    raise AssertionError("unreachable")


def duration(seconds: float) -> str:
    """Seconds in the unit that reads best."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= scale:
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
