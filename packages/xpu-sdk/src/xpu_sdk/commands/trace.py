"""Run a Python program and write a trace of its device work, for chrome://tracing or ui.perfetto.dev."""

from __future__ import annotations

import argparse
import importlib.util
import runpy
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from .. import printing
from ..output_files import why_unwritable
from ..program_argument import add_program

HELP = "run a Python program and write its trace"
MAX_ROWS = 10


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options. All from the program's name on belongs to the program."""
    parser.add_argument("-o", "--output", default="xpu.trace.json", metavar="FILE")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module's name")
    add_program(parser, required=True, help="a Python file, or a module with -m")


def run(options: argparse.Namespace) -> int:
    """Run the program in this process and return its exit code; if it raises, write the trace first.

    Return 2 without running anything if the program does not exist or the trace could not be written.
    """
    import xpu_runtime as xr

    if options.module:
        sys.path.insert(0, "")
    output = Path(options.output).absolute()  # the program may change the working directory
    if problem := _missing_program(options) or why_unwritable(output, "-o"):
        print(f"xpu-sdk trace: {problem}", file=sys.stderr)
        return 2
    sys.argv = [options.program, *options.arguments]
    code = 0
    xr.trace.start()
    try:
        if options.module:
            runpy.run_module(options.program, run_name="__main__", alter_sys=True)
        else:
            sys.path.insert(0, str(Path(options.program).resolve().parent))
            runpy.run_path(options.program, run_name="__main__")
    except SystemExit as end:
        # The code may be a message, which Python prints and counts as 1.
        if end.code is not None and not isinstance(end.code, int):
            print(end.code, file=sys.stderr)
        code = end.code if isinstance(end.code, int) else int(end.code is not None)
    finally:
        records = xr.trace.stop()
        xr.trace.save(output, records)
        _print_longest(records)
        printing.console.print(f"{len(records)} records in {output}", markup=False, soft_wrap=True)
    return code


def _missing_program(options: argparse.Namespace) -> str | None:
    if not options.module:
        path = Path(options.program)
        return None if path.exists() else f"there is no file {path.resolve()}"
    try:
        found = importlib.util.find_spec(options.program)
    except ModuleNotFoundError as error:  # of a package that has the module
        return str(error)
    return None if found else f"there is no module named {options.program!r}"


def _print_longest(records: list[Any]) -> None:
    """Print the operations that took the device longest, by name."""
    columns = ("name", "kind", "calls", "total", "mean", "share")
    printing.print_table("Longest on the device", columns, _longest(records))


def _longest(records: list[Any]) -> Iterator[tuple[str, ...]]:
    times: dict[tuple[str, str], list[int]] = {}
    for record in records:
        if record.device_end > record.device_begin:
            taken = record.device_end - record.device_begin
            times.setdefault((record.name, record.kind.name), []).append(taken)
    total = sum(map(sum, times.values()))
    longest = sorted(times.items(), key=lambda entry: sum(entry[1]), reverse=True)
    for (name, kind), taken in longest[:MAX_ROWS]:
        spent = sum(taken)
        mean = printing.format_duration(spent / len(taken) * 1e-9)
        duration = printing.format_duration(spent * 1e-9)
        yield name, kind, str(len(taken)), duration, mean, f"{spent / total:.1%}"
