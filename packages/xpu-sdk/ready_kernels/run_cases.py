"""Runs the cases of a program, each in a process of its own: ``run_cases.py PROGRAM FOLDER``.

What a case wants goes to a file with its name in the folder. Modules are imported once, before the fork.
"""

from __future__ import annotations

import argparse
import importlib.util
import multiprocessing
import os
import sys
from collections.abc import Callable
from pathlib import Path


def cases(program: Path) -> dict[str, Callable[[], None]]:
    """Import the program; return what it lists as its cases."""
    sys.path.insert(0, str(program.parent))
    spec = importlib.util.spec_from_file_location(program.stem, program)
    assert spec is not None
    assert spec.loader is not None
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module.CASES


def recorded(case: Callable[[], None], record: Path) -> None:
    """Run a case; what it wants goes to the record."""
    os.environ["XPU_DUMP_KERNELS"] = f"list:{record}"
    case()


def run(case: Callable[[], None], record: Path) -> bool:
    """Run a case in a child; return whether it ended well."""
    child = multiprocessing.get_context("fork").Process(target=recorded, args=(case, record))
    child.start()
    child.join()
    return child.exitcode == 0


def main() -> None:
    """Run the cases; end with 1 and their names if some failed."""
    parser = argparse.ArgumentParser(prog="run_cases", description=__doc__)
    parser.add_argument("program", type=Path)
    parser.add_argument("folder", type=Path)
    parser.add_argument("--only", nargs="*", help="names of cases")
    parser.add_argument("--left-out", nargs="*", default=(), help="parts of names of cases")
    options = parser.parse_args()
    failed = [
        name
        for name, case in cases(options.program).items()
        if (options.only is None or name in options.only)
        and not any(part in name for part in options.left_out)
        and not run(case, options.folder / name)
    ]
    if failed:
        raise SystemExit(f"failed: {', '.join(failed)}")


if __name__ == "__main__":
    main()
