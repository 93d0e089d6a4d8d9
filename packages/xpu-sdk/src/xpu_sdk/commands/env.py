"""List the environment variables that the packages read: type, default, value and meaning.

Those for developers of the packages are listed if they are set.
"""

from __future__ import annotations

import argparse

from .. import printing

HELP = "the environment variables and their values"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--json``, which leaves out the warnings about unknown variables."""
    parser.add_argument("--json", action="store_true", help="for programs")


def run(options: argparse.Namespace) -> int:
    """Print the variables, then warn of unknown ones. Always returns 0; touches no device."""
    from xpu_runtime import env

    rows = [
        (v.name, v.type, v.default, v.value, v.meaning)
        for v in env.registry()
        if v.value or not v.for_developers
    ]
    columns = ("name", "type", "default", "value", "meaning")
    if options.json:
        printing.print_json([dict(zip(columns, row, strict=True)) for row in rows])
        return 0
    readable = [tuple("-" if cell in (None, "") else cell for cell in row) for row in rows]
    printing.print_table("Environment variables", columns, readable)
    for name in env.unknown():
        printing.console.print(f"{name} is set, but nothing reads it: is it misspelt?")
    return 0
