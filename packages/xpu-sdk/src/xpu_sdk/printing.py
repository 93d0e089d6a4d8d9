"""Output of the commands: tables for people, JSON for programs."""

from __future__ import annotations

import json
from collections.abc import Iterable, Sequence
from typing import Any

from rich.console import Console
from rich.table import Table
from rich.text import Text

# Without markup and emoji: names of files, devices and programs may have brackets and colons.
console = Console(highlight=False, markup=False, emoji=False)


def print_table(title: str, columns: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    """Print a table; print nothing if it has no rows."""
    shown = Table(title=title, title_justify="left", title_style="bold")
    for column in columns:
        shown.add_column(column, overflow="fold")
    for row in rows:
        shown.add_row(*(Text(str(cell)) for cell in row))  # Text: no markup in it
    if shown.row_count:
        console.print(shown)


def to_json(value: Any) -> str:
    """Return indented JSON; objects that JSON does not know become their ``str()``."""
    return json.dumps(value, indent=1, default=str)


def print_json(value: Any) -> None:
    """Print JSON to stdout, without the console's colors and line breaks."""
    print(to_json(value))


def format_bytes(bytes_: float) -> str:
    """Return a number of bytes in B, KiB, MiB or GiB."""
    for unit in ("B", "KiB", "MiB", "GiB"):
        if bytes_ < 1024 or unit == "GiB":
            return f"{bytes_:.0f} {unit}" if unit == "B" else f"{bytes_:.1f} {unit}"
        bytes_ /= 1024
    raise AssertionError("unreachable")


def format_duration(seconds: float) -> str:
    """Return a time in s, ms or us."""
    for unit, scale in (("s", 1.0), ("ms", 1e-3)):
        if seconds >= 0.9995 * scale:  # rounds to 1 or more
            return f"{seconds / scale:.3g} {unit}"
    return f"{seconds / 1e-6:.3g} us"
