"""Output of a fuzzer: failures and progress during the run, and a report at its end."""

from __future__ import annotations

import argparse
import time
from collections import defaultdict
from collections.abc import Callable, Sequence
from typing import Any

Result = dict[str, Any]
# The part of the faults put into results that a fuzzer must notice.
MIN_NOTICED = 0.9
# Seconds after which a run prints its first lines of progress; later ones come at intervals.
FIRST_LINES = (0.0, 1.0, 3.0)


class Progress:
    """Collects results. Prints each failure in full at once, and a line of progress at intervals."""

    def __init__(
        self,
        options: argparse.Namespace,
        cases: int,
        failed: str,
        running: Callable[[], Sequence[object]],
    ) -> None:
        self._options, self._cases, self._failed, self._running = options, cases, failed, running
        self._began = time.monotonic()
        self._next = FIRST_LINES[0]
        self.results: list[Result] = []

    @property
    def seconds(self) -> float:
        """Seconds since the run began."""
        return time.monotonic() - self._began

    def add(self, result: Result) -> None:
        """Add a result; print a failure at once, with the options that repeat its case."""
        self.results.append(result)
        if result["end"] == self._failed:
            where = f"--seed {self._options.seed} --case {result['case']}"
            print(f"FAILED {where}, {result['subject']}", *shown(result), sep="\n", flush=True)

    def say_if_due(self) -> None:
        """Print progress at the first seconds of FIRST_LINES, then at each multiple of the interval."""
        if self.seconds >= self._next:
            later = [second for second in FIRST_LINES if second > self.seconds]
            interval = self._options.interval
            self._next = min([*later, (self.seconds // interval + 1) * interval])
            self.say()

    def say(self) -> None:
        """Print how many cases are done, their rate, the time left, and the running cases."""
        done, seconds = len(self.results), self.seconds
        rate = done / seconds if seconds else 0.0
        left = clock((self._cases - done) / rate) if rate else "unknown time"
        failed = sum(result["end"] == self._failed for result in self.results)
        print(
            f"{clock(seconds)}  {done} of {self._cases} cases, {rate:.3g} a second, {left} left, "
            f"{failed} failed; {self.running()}",
            flush=True,
        )

    def running(self) -> str:
        """Return the end of a line of progress: the cases that run now."""
        return "running: " + (", ".join(map(str, self._running())) or "nothing")


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds, or hours, minutes and seconds."""
    minutes, second = divmod(round(seconds), 60)
    hours, minute = divmod(minutes, 60)
    return f"{hours}:{minute:02}:{second:02}" if hours else f"{minute}:{second:02}"


def shown(result: Result) -> list[str]:
    """Return the program and the difference, indented."""
    text = result["program"] + "\n" + result.get("difference", "")
    return [f"    {line}" for line in text.splitlines()]


def print_failures(results: Sequence[Result], options: argparse.Namespace, failed: str) -> None:
    """Print the failures grouped by subject, or all results of cases that were named."""
    by_subject: dict[str, list[Result]] = defaultdict(list)
    for result in sorted(results, key=lambda result: result["case"]):
        if result["end"] == failed or options.case:
            by_subject[result["subject"]].append(result)
    for subject, group in sorted(by_subject.items()):
        print(f"\n{subject}: {len(group)}")
        for result in group if options.case else group[:3]:
            print(f"  --seed {options.seed} --case {result['case']}: {result['end']}")
            print(*shown(result), sep="\n")
        if len(group) > 3 and not options.case:
            print("  also " + " ".join(f"--case {result['case']}" for result in group[3:15]))


def print_mutations(results: Sequence[Result]) -> bool:
    """Print of each mutation how many were noticed; return False if it is less than MIN_NOTICED of them."""
    outcomes: dict[str, dict[int, bool]] = defaultdict(dict)
    for result in sorted(results, key=lambda result: result["case"]):
        for name, is_noticed in result.get("mutations", {}).items():
            outcomes[name][result["case"]] = is_noticed
    print()
    for name, cases in sorted(outcomes.items()):
        missed = [str(case) for case, is_noticed in cases.items() if not is_noticed]
        where = f"; not --case {', '.join(missed[:12])}" if missed else ""
        print(f"{name}: {len(cases) - len(missed)} of {len(cases)} noticed{where}")
    return all(sum(cases.values()) >= MIN_NOTICED * len(cases) for cases in outcomes.values())
