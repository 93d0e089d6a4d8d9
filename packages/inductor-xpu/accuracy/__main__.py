"""Compare models compiled on xpu with eager ones and with float64: ``nox -s accuracy``.

A case is FAMILY/MODEL/MODE/DTYPE/SIZES, such as written/unet/training/amp/dynamic. A run leaves out the
cases whose outcomes are in the file, so a run that was stopped goes on where it was.
"""

from __future__ import annotations

import argparse
import re
import sys
import time
import warnings
from collections.abc import Iterator
from pathlib import Path

import grid
import report


def wanted(options: argparse.Namespace, outcomes: dict[str, grid.Outcome]) -> Iterator[str]:
    """Yield the cases that the options choose. Says which families need a package that is missing."""
    import model_case
    from models import FAMILIES

    for family in FAMILIES:
        if options.families and family not in options.families:
            continue
        try:
            names = list(map(str, model_case.cases(family, options.packaged)))
        except ImportError as e:
            print(f"{family}: left out: {e}", flush=True)
            continue
        for name in names:
            model = name.split("/")[1]
            outcome = outcomes.get(name)
            is_due = (
                outcome is None
                or options.redo == "all"
                or (options.redo == "failed" and outcome["result"] != "pass")
            )
            if is_due and re.search(options.models, model) and re.search(options.cases, name):
                yield name


def main() -> int:
    """Run the cases and write the report; return 1 if one failed that passes on stock PyTorch's CPU."""
    parser = argparse.ArgumentParser(
        prog="accuracy", description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("families", nargs="*", help="families of models; all when none is named")
    parser.add_argument("--models", default="", metavar="REGEX", help="models whose name matches")
    parser.add_argument("--cases", default="", metavar="REGEX", help="cases whose name matches")
    parser.add_argument("--redo", choices=("failed", "all"), help="run cases again")
    parser.add_argument(
        "--record", type=Path, metavar="FILE", help="the outcomes; those of the page by default"
    )
    parser.add_argument(
        "--reader",
        choices=("loops", "triton"),
        default="loops",
        help="what writes the kernels, as inductor_xpu.settings has it; triton needs --record",
    )
    parser.add_argument(
        "--packaged",
        action="store_true",
        help="cases of packages, made ahead of time and loaded; needs --record",
    )
    parser.add_argument("--list", action="store_true", help="print the cases, run none")
    parser.add_argument("--child", action="store_true", help=argparse.SUPPRESS)
    options = parser.parse_args()
    warnings.simplefilter("ignore")
    if options.child:
        grid.serve(options.reader)
        return 0
    if options.record is None:
        if options.reader != "loops":
            parser.error("--reader triton: name a file with --record; the page shows our own loops")
        if options.packaged:
            parser.error("--packaged: name a file with --record")
        options.record = report.DOCS / "accuracy.json"
    names = list(wanted(options, grid.load(options.record)))
    if options.list:
        print(*names, sep="\n")
        return 0
    cases = grid.Grid(options.reader)
    failed = 0
    for number, name in enumerate(names, 1):
        start = time.monotonic()
        outcome = cases.run(name)
        grid.record(options.record, name, outcome)
        report.write(options.record, options.record.with_suffix(".md"))
        failed += report.has_failed(outcome)
        seconds = time.monotonic() - start
        print(f"{number}/{len(names)} {name} {seconds:.1f} s: {report.line(outcome)}", flush=True)
    cases.end()
    print(f"{len(names)} cases, {failed} failed")
    return int(failed > 0)


if __name__ == "__main__":
    sys.exit(main())
