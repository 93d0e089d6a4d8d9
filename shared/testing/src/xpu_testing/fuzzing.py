"""Fuzzing: cases from a seed run in child processes; failures are grouped and counted.

A fuzzer is a folder ``packages/*/fuzz/NAME`` whose ``__main__.py`` ends in :func:`main`.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import re
import sys
import tomllib
import traceback
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from .fuzz_batches import Batches
from .fuzz_report import Progress, print_failures
from .stopping import Stopped, stoppable

PASSED = "passed"
REFUSED = "refused"  # both sides reject the program, so they agree
FAILED = "failed"
KNOWN = "known"
WORDS = (PASSED, FAILED, KNOWN)


class Difference(Exception):
    """Raised by :meth:`Case.run` if the two sides do not agree."""


class Case(Protocol):
    """One random program: ``subject`` groups the failures, ``str()`` shows the program."""

    subject: str

    def run(self) -> str:
        """Return PASSED, or REFUSED by both sides; raise Difference. Any other error fails too."""
        ...


@dataclass(frozen=True)
class Known:
    """An expected difference with its reason. Each of its regular expressions must match somewhere."""

    reason: str
    subject: str
    program: str = ""
    difference: str = ""

    def explains(self, result: dict[str, Any]) -> bool:
        """Return True if the subject matches as a whole, and program and difference contain a match."""
        return bool(
            re.fullmatch(self.subject, result["subject"])
            and re.search(self.program, result["program"])
            and re.search(self.difference, result["difference"])
        )


def case_random(seed: int, case: int) -> random.Random:
    """Return the random numbers of a case, which depend on its seed and number only."""
    return random.Random(f"{seed}:{case}")


def main(make: Callable[[random.Random], Case]) -> None:
    """Run a fuzzer from its command line. ``make`` returns a case; it must be fast and use no device."""
    script = Path(sys.modules["__main__"].__file__ or "")
    options = _options()
    if options.report is not None:
        _run_cases(make, options)
        return
    path = script.parent / "known.toml"
    tables = tomllib.loads(path.read_text())["known"] if path.exists() else []
    known = [Known(**table) for table in tables]
    numbers = options.case or range(options.first, options.first + options.cases)
    if options.only:
        fits = re.compile(options.only).fullmatch
        numbers = [n for n in numbers if fits(make(case_random(options.seed, n)).subject)]
    sys.exit(_run(script, options, numbers, known))


def _run(
    script: Path, options: argparse.Namespace, numbers: Sequence[int], known: Sequence[Known]
) -> int:
    """Run the cases and print the report, also of a run that is told to end. Returns the exit code."""
    batches = Batches(script, options, numbers, FAILED)
    progress = Progress(options, len(numbers), FAILED, batches.running)
    stopped, running = None, ""
    try:
        with stoppable(), batches:
            try:
                progress.say_if_due()
                for result in batches.results(interval=0.5):
                    if result is not None:
                        _take(result, progress, options, known)
                    progress.say_if_due()
            finally:
                running = progress.running()
    except Stopped as error:
        stopped = error
    results = progress.results
    print_failures(results, options, FAILED)
    ends = [result["end"] for result in results]
    print(
        f"\n{script.parent.name}, seed {options.seed}: {len(results)} cases in {progress.seconds:.0f} s, "
        f"{ends.count(REFUSED)} of those that passed were refused by both, "
        f"{ends.count(KNOWN)} differ for a known reason"
    )
    if stopped:
        print(
            f"{stopped}: {len(numbers) - len(results)} of {len(numbers)} cases not done; {running}"
        )
    print(f"{len(ends) - ends.count(FAILED)} passed, {ends.count(FAILED)} failed", flush=True)
    return stopped.exit_code if stopped else int(FAILED in ends)


def _take(
    result: dict[str, Any],
    progress: Progress,
    options: argparse.Namespace,
    known: Sequence[Known],
) -> None:
    if options.log:
        with options.log.open("a") as log:
            log.write(json.dumps(result) + "\n")
    if result["end"] == FAILED and any(entry.explains(result) for entry in known):
        result = result | {"end": KNOWN}
    progress.add(result)


def _options() -> argparse.Namespace:
    parser = argparse.ArgumentParser()
    parser.add_argument("--cases", type=int, default=1000, help="how many cases")
    parser.add_argument("--first", type=int, default=0, help="number of the first case")
    parser.add_argument("--case", type=int, action="append", help="only this case, in full")
    parser.add_argument("--only", default="", help="only subjects that fit this regular expression")
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--jobs", type=int, default=len(os.sched_getaffinity(0)))
    parser.add_argument("--batch", type=int, default=200, help="cases of one process")
    parser.add_argument("--limit", type=float, default=120, help="seconds a case may take")
    parser.add_argument("--interval", type=float, default=10, help="seconds between progress lines")
    parser.add_argument("--log", type=Path, help="every result, one line of JSON each")
    parser.add_argument("--report", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--numbers", type=json.loads, help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_cases(make: Callable[[random.Random], Case], options: argparse.Namespace) -> None:
    """Run cases in a child. Prints each case before it runs, so that a crash can be assigned to it."""
    with os.fdopen(options.report, "w", buffering=1) as report:
        for number in options.numbers:
            case = make(case_random(options.seed, number))
            begin = {"case": number, "subject": case.subject, "program": str(case)}
            report.write(json.dumps(begin) + "\n")
            difference = ""
            try:
                end = case.run()
            except Difference as error:
                end, difference = FAILED, str(error)
            except Exception:  # noqa: BLE001 - whatever it is, it is this case's result
                end, difference = FAILED, traceback.format_exc(limit=-6)
            report.write(json.dumps({"end": end, "difference": difference}) + "\n")
