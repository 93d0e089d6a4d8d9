"""What the fuzzers share: cases from a seed, run by children, differences grouped and counted.

A fuzzer is a folder ``packages/*/fuzz/NAME`` whose ``__main__.py`` ends in :func:`main`.
"""

from __future__ import annotations

import argparse
import json
import os
import queue
import random
import re
import selectors
import subprocess
import sys
import tempfile
import threading
import time
import tomllib
import traceback
from collections import defaultdict
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Protocol

from . import validation

PASSED = "passed"
REFUSED = "refused"  # by both sides alike, which is right too
FAILED = "failed"
KNOWN = "known"
WORDS = (PASSED, FAILED, KNOWN)


class Difference(Exception):
    """What :meth:`Case.run` raises when the two sides do not agree."""


class Case(Protocol):
    """One random program: ``subject`` groups the failures, ``str()`` shows the program."""

    subject: str

    def run(self) -> str:
        """PASSED, or REFUSED by both sides; raises Difference, and any other error fails too."""
        ...


@dataclass(frozen=True)
class Known:
    """A difference that has a reason. Regular expressions, each must match somewhere."""

    reason: str
    subject: str
    program: str = ""
    difference: str = ""

    def explains(self, result: dict[str, Any]) -> bool:
        return bool(
            re.fullmatch(self.subject, result["subject"])
            and re.search(self.program, result["program"])
            and re.search(self.difference, result["difference"])
        )


def case_random(seed: int, case: int) -> random.Random:
    """The random numbers of a case: of its seed and number alone, in any process."""
    return random.Random(f"{seed}:{case}")


def main(make: Callable[[random.Random], Case]) -> None:
    """The command line of a fuzzer; ``make`` chooses a case, cheaply and without a device."""
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
    started = time.monotonic()
    results = list(_Parent(script, options, numbers).run())
    for result in results:
        if result["end"] == FAILED and any(entry.explains(result) for entry in known):
            result["end"] = KNOWN
    _report(results, script.parent.name, options, time.monotonic() - started)
    sys.exit(any(result["end"] == FAILED for result in results))


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
    parser.add_argument("--log", type=Path, help="every result, one line of JSON each")
    parser.add_argument("--report", type=int, help=argparse.SUPPRESS)
    parser.add_argument("--numbers", type=json.loads, help=argparse.SUPPRESS)
    return parser.parse_args()


def _run_cases(make: Callable[[random.Random], Case], options: argparse.Namespace) -> None:
    """The child: says which case begins before it runs, so that a death has a name."""
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


class _Parent:
    """Gives batches of cases to children and goes on after the case that ended one."""

    def __init__(self, script: Path, options: argparse.Namespace, numbers: Sequence[int]) -> None:
        self._script, self._options = script, options
        self._batches: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        for start in range(0, len(numbers), options.batch):
            self._batches.put(list(numbers[start : start + options.batch]))
        self._results: queue.SimpleQueue[dict[str, Any] | Exception | None] = queue.SimpleQueue()

    def run(self) -> Iterator[dict[str, Any]]:
        workers = [
            threading.Thread(target=self._work, daemon=True) for _ in range(self._options.jobs)
        ]
        for worker in workers:
            worker.start()
        running = len(workers)
        while running:
            result = self._results.get()
            if isinstance(result, Exception):
                raise result
            if result is None:
                running -= 1
                continue
            if self._options.log:
                with self._options.log.open("a") as log:
                    log.write(json.dumps(result) + "\n")
            yield result

    def _work(self) -> None:
        try:
            while True:
                batch = self._batches.get_nowait()
                while batch:
                    done = list(self._child(batch))
                    batch = batch[len(done) :]
        except queue.Empty:
            self._results.put(None)
        except Exception as error:  # noqa: BLE001 - raised in the main thread
            self._results.put(error)

    def _child(self, numbers: list[int]) -> Iterator[int]:
        reading, writing = os.pipe()
        command = [sys.executable, str(self._script.parent), "--seed", str(self._options.seed)]
        command += ["--report", str(writing), "--numbers", json.dumps(numbers)]
        variables = dict(os.environ)
        variables |= validation.variables(variables)
        with tempfile.TemporaryFile("w+", errors="replace") as output:
            child = subprocess.Popen(
                command,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(writing,),
            )
            os.close(writing)
            begun: dict[str, Any] | None = None
            why, done = "", 0
            with os.fdopen(reading, "rb", buffering=0) as report:
                for line in self._lines(report):
                    if line is None:
                        why = f"hangs: killed after {self._options.limit:.0f} s"
                        child.kill()
                    elif begun is None:
                        begun = json.loads(line)
                    else:
                        self._results.put(begun | json.loads(line))
                        yield begun["case"]
                        begun, done = None, done + 1
            exit_code = child.wait()
            if begun is not None or exit_code:
                output.seek(0)
                last = output.read()[-2000:].strip()
                if begun is None:  # while a case was made, or at the end of the process
                    case = numbers[min(done, len(numbers) - 1)]
                    begun = {"case": case, "subject": "no case", "program": f"after {done} cases"}
                why = why or f"ended the process with {exit_code}"
                self._results.put(begun | {"end": FAILED, "difference": f"{why}\n{last}".strip()})
                yield begun["case"]

    def _lines(self, report: Any) -> Iterator[bytes | None]:
        """Lines as they come; None when none came within the limit."""
        rest = b""
        with selectors.DefaultSelector() as selector:
            selector.register(report, selectors.EVENT_READ)
            while True:
                if not selector.select(self._options.limit):
                    yield None
                more = report.read(1 << 16)
                if not more:
                    return
                *lines, rest = (rest + more).split(b"\n")
                yield from lines


def _report(
    results: Sequence[dict[str, Any]], name: str, options: argparse.Namespace, seconds: float
) -> None:
    by_subject: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for result in sorted(results, key=lambda result: result["case"]):
        if result["end"] == FAILED or options.case:
            by_subject[result["subject"]].append(result)
    for subject, group in sorted(by_subject.items()):
        print(f"\n{subject}: {len(group)}")
        for result in group if options.case else group[:3]:
            print(f"  --seed {options.seed} --case {result['case']}: {result['end']}")
            for line in (result["program"] + "\n" + result.get("difference", "")).splitlines():
                print(f"    {line}")
        if len(group) > 3 and not options.case:
            print("  also " + " ".join(f"--case {result['case']}" for result in group[3:15]))
    ends = [result["end"] for result in results]
    print(
        f"\n{name}, seed {options.seed}: {len(results)} cases in {seconds:.0f} s, {ends.count(REFUSED)}",
        end="",
    )
    print(
        f" of those that passed were refused by both, {ends.count(KNOWN)} differ for a known reason"
    )
    print(f"{len(ends) - ends.count(FAILED)} passed, {ends.count(FAILED)} failed")
