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
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from . import mutation
from .fuzz_batches import Batches
from .fuzz_report import Progress, print_failures, print_mutations
from .mutation import Mutations
from .stopping import Stopped, stoppable

PASSED = "passed"
REFUSED = "refused"  # both sides reject the program, so they agree
FAILED = "failed"
KNOWN = "known"
WORDS = (PASSED, FAILED, KNOWN)

_mutations: Mutations | None = None


class Difference(Exception):
    """Raised by :meth:`Case.run` if the two sides do not agree. ``elements`` has a text of each wrong one."""

    def __init__(self, text: str, elements: Iterable[str] = ()) -> None:
        super().__init__(text)
        self.elements = list(dict.fromkeys(elements)) or [text]


class Case(Protocol):
    """One random program: ``subject`` groups the failures, ``str()`` shows the program."""

    subject: str

    def run(self) -> str:
        """Return PASSED, or REFUSED by both sides; raise Difference. Any other error fails too."""
        ...


@dataclass(frozen=True)
class Known:
    """An expected difference with its reason: of an operator, of a dtype, and under a condition.

    ``subject`` is the whole operator; ``dtype``, ``program`` and ``difference`` are regular expressions
    that must match somewhere, the last one in the text of every wrong element. No entry excuses a process
    that ended while xpu computed, and a lost NaN only one that names its operands (``, of nan``).
    """

    reason: str
    subject: str
    dtype: str
    difference: str
    program: str = ""

    def __post_init__(self) -> None:
        if not self.difference or not self.dtype:
            raise ValueError(f"a known difference of every {self.subject}: {self.reason}")

    def explains(self, case: dict[str, Any], elements: Sequence[str]) -> bool:
        """Return True if the case is one of these, and each of its wrong elements."""
        return bool(
            re.fullmatch(self.subject, case["subject"])
            and re.search(rf"\b({self.dtype})\b", case["program"])
            and re.search(self.program, case["program"])
            and all(re.search(self.difference, each) for each in elements)
            and (", of " in self.difference or not any(map(_LOST_NAN.search, elements)))
        )


_LOST_NAN = re.compile(r"(?<!nan), expected nan")
_SIDE = re.compile(r"^on (\w+)$", re.MULTILINE)


def announce(side: str) -> None:
    """Say which side computes now, "xpu" or "reference", for the report of a process that ends there."""
    print(f"on {side}", file=sys.stderr, flush=True)


def check(
    results: Sequence[Any],
    judge: Callable[[list[Any]], Any],
    dtypes: Sequence[object] | None = None,
) -> None:
    """Judge the results of xpu, which are arrays on the host: ``judge`` raises Difference.

    A run that puts in faults (``--mutate``) judges them again with each. ``dtypes`` are those of the
    results on xpu, where the arrays on the host have others.
    """
    judge(list(results))
    if _mutations is not None:
        given = [getattr(each, "dtype", "") for each in results] if dtypes is None else dtypes
        _mutations.check(results, given, judge)


def case_random(seed: int, case: int) -> random.Random:
    """Return the random numbers of a case, which depend on its seed and number only."""
    return random.Random(f"{seed}:{case}")


def main(make: Callable[[random.Random], Case]) -> None:
    """Run a fuzzer from its command line. ``make`` returns a case; it must be fast and use no device."""
    script = Path(sys.modules["__main__"].__file__ or "")
    options = _options()
    path = script.parent / "known.toml"
    tables = tomllib.loads(path.read_text())["known"] if path.exists() else []
    known = [Known(**table) for table in tables]
    if options.report is not None:
        _run_cases(make, options, known)
        return
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
    noticed = print_mutations(results) if options.mutate else True
    print(f"{len(ends) - ends.count(FAILED)} passed, {ends.count(FAILED)} failed", flush=True)
    return stopped.exit_code if stopped else int(FAILED in ends or not noticed)


def _take(
    result: dict[str, Any],
    progress: Progress,
    options: argparse.Namespace,
    known: Sequence[Known],
) -> None:
    if options.log:
        with options.log.open("a") as log:
            log.write(json.dumps(result) + "\n")
    if result.get("died") and _SIDE.findall(result["difference"])[-1:] == ["reference"]:
        text = result["difference"]
        if any(entry.explains(result, [text]) for entry in known):
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
    parser.add_argument(
        "--mutate",
        choices=(*mutation.KINDS, "all"),
        action="append",
        help="put this fault into results of xpu, and count how many are noticed",
    )
    parser.add_argument(
        "--dtype", choices=mutation.DTYPES, action="append", help="only into results of this dtype"
    )
    parser.add_argument("--report", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--numbers", type=json.loads, help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_cases(
    make: Callable[[random.Random], Case], options: argparse.Namespace, known: Sequence[Known]
) -> None:
    """Run cases in a child. Prints each case before it runs, so that a crash can be assigned to it."""
    global _mutations
    if options.mutate:
        kinds = mutation.KINDS if "all" in options.mutate else options.mutate
        _mutations = Mutations(kinds, options.dtype or mutation.DTYPES, Difference)
    with os.fdopen(options.report, "w", buffering=1) as report:
        for number in options.numbers:
            case = make(case_random(options.seed, number))
            begin = {"case": number, "subject": case.subject, "program": str(case)}
            report.write(json.dumps(begin) + "\n")
            if _mutations is not None:
                _mutations.begin(random.Random(f"{options.seed}:{number}:mutation"))
            difference = ""
            try:
                end = case.run()
            except Difference as error:
                is_known = any(entry.explains(begin, error.elements) for entry in known)
                end, difference = KNOWN if is_known else FAILED, str(error)
            except Exception:  # noqa: BLE001 - whatever it is, it is this case's result
                end, difference = FAILED, traceback.format_exc(limit=-6)
            result: dict[str, Any] = {"end": end, "difference": difference}
            if _mutations is not None:
                result["mutations"] = {
                    name: not any(entry.explains(begin, error.elements) for entry in known)
                    if error
                    else False
                    for name, error in _mutations.noticed.items()
                }
            report.write(json.dumps(result) + "\n")
