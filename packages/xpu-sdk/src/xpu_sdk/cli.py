"""The command ``xpu-sdk``. Each subcommand is a module of :mod:`xpu_sdk.commands`.

A command module has ``HELP`` (one line), ``add_arguments(parser)`` and ``run(options) -> exit code``.
"""

from __future__ import annotations

import argparse
import importlib
import sys
from collections.abc import Sequence

from . import __version__

COMMANDS = ("doctor", "info", "demo", "check", "bench", "cache", "warm", "trace", "env")


def build_parser() -> argparse.ArgumentParser:
    """Return the parser with every command."""
    parser = argparse.ArgumentParser(prog="xpu-sdk", description="The xpu device on this machine.")
    parser.add_argument("--version", action="version", version=f"xpu-sdk {__version__}")
    commands = parser.add_subparsers(metavar="COMMAND", required=True)
    for name in COMMANDS:
        module = importlib.import_module(f".commands.{name}", __package__)
        sub = commands.add_parser(name, help=module.HELP, description=module.__doc__)
        module.add_arguments(sub)
        sub.set_defaults(run=module.run)
    return parser


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command and return its exit code."""
    options = build_parser().parse_args(arguments)
    try:
        return options.run(options)
    except KeyboardInterrupt:
        return 130
    except BrokenPipeError:
        sys.stderr.close()  # the reader of the pipe has ended, as in `xpu-sdk env | head`
        return 0


if __name__ == "__main__":
    sys.exit(main())
