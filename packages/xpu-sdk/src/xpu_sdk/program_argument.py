"""The arguments PROGRAM [ARGUMENT ...] of a command, which run as they are given."""

from __future__ import annotations

import argparse
from collections.abc import Sequence
from typing import Any


class _Program(argparse.Action):
    """Sets `program` and `arguments` from one list: argparse removes a "--" behind a lone PROGRAM."""

    def __call__(
        self,
        parser: argparse.ArgumentParser,
        namespace: argparse.Namespace,
        values: str | Sequence[Any] | None,
        option_string: str | None = None,
    ) -> None:
        words = list(values or ())
        if words[:1] == ["--"]:  # before PROGRAM it ends the options of the command itself
            del words[0]
        if self.const and not words:
            parser.error("the following arguments are required: PROGRAM")
        namespace.program = words[0] if words else None
        namespace.arguments = words[1:]


def add_program(parser: argparse.ArgumentParser, required: bool, help: str) -> None:
    """Add PROGRAM; all from its name on belongs to it."""
    parser.add_argument(
        "program",
        nargs=argparse.REMAINDER,
        action=_Program,
        const=required,
        metavar="PROGRAM [ARGUMENT ...]",
        help=help,
    )
