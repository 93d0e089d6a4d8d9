"""Run a Python program and write a trace of its device work, for chrome://tracing or ui.perfetto.dev."""

from __future__ import annotations

import argparse
import runpy
import sys
from pathlib import Path

from .. import printing
from ..program_argument import add_program

HELP = "run a Python program and write its trace"


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add the options. All from the program's name on belongs to the program."""
    parser.add_argument("-o", "--output", default="xpu.trace.json", metavar="FILE")
    parser.add_argument("-m", dest="module", action="store_true", help="PROGRAM is a module's name")
    add_program(parser, required=True, help="a Python file, or a module with -m")


def run(options: argparse.Namespace) -> int:
    """Run the program in this process and return its exit code; if it raises, write the trace first."""
    import xpu_runtime as xr

    output = Path(options.output).absolute()  # the program may change the working directory
    sys.argv = [options.program, *options.arguments]
    code = 0
    xr.trace.start()
    try:
        if options.module:
            sys.path.insert(0, "")
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
        printing.console.print(f"{len(records)} records in {output}", soft_wrap=True)
    return code
