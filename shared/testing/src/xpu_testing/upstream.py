"""Run the tests of an upstream project on xpu, in as many processes as it takes, and list failures by cause.

A run goes on where the last one stopped. A test that ends its process is recorded as a failure, and the tests
after it run in the next process.
"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
import tomllib
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path

from .outcome_record import STARTED, VARIABLE
from .processes import with_parent

# Exit codes of pytest when it reports all that it found: passed, failed, stopped by a file, no tests.
_REPORTED = (0, 1, 2, 5)
_USAGE_ERROR = 4


@dataclass(frozen=True)
class Outcome:
    """The last recorded outcome of a test: passed, failed or skipped, and why."""

    outcome: str
    cause: str = ""
    properties: Mapping[str, object] = field(default_factory=dict)


@dataclass(frozen=True)
class Reason:
    """Explains the failures whose test and cause have a match of the regular expressions."""

    reason: str
    test: str = ""
    cause: str = ""

    def explains(self, test: str, cause: str) -> bool:
        """Return True if the failure is one of those that the reason is given for."""
        return bool(re.search(self.test, test) and re.search(self.cause, cause))


@dataclass(frozen=True)
class TestRun:
    """A folder of tests, the plugins of pytest that make them run on xpu, and the file of their outcomes."""

    __test__ = False  # not a class of tests

    folder: Path
    record: Path
    plugins: Sequence[str]
    plugin_folder: Path
    arguments: Sequence[str] = ()
    variables: Mapping[str, str] = field(default_factory=dict)

    def run(self, file: Path) -> None:
        """Run the tests of a file that the record does not have."""
        paths = [str(self.plugin_folder), str(self.folder), os.environ.get("PYTHONPATH", "")]
        environment = os.environ | self.variables
        environment |= {
            VARIABLE: str(self.record),
            "PYTHONPATH": os.pathsep.join(filter(None, paths)),
            "PYTHONDONTWRITEBYTECODE": "1",  # the folder is the user's
        }
        command = [sys.executable, "-m", "pytest", "-q", "-p", "no:cacheprovider"]
        command += ["--rootdir", str(self.folder), "-p", "xpu_testing.outcome_record"]
        command += [word for plugin in self.plugins for word in ("-p", plugin)]
        while True:
            before = len(read_outcomes(self.record))
            status = subprocess.run(
                with_parent([*command, *self.arguments, str(file)]),
                env=environment,
                cwd=self.folder,
                check=False,
            ).returncode
            if status == _USAGE_ERROR:
                raise SystemExit(status)
            found = read_outcomes(self.record)
            running = [test for test, outcome in found.items() if outcome.outcome == STARTED]
            if not running and status not in _REPORTED:
                running = [file.relative_to(self.folder).as_posix()]
            with self.record.open("a") as lines:
                for test in running:
                    cause = f"ends the process with status {status}"
                    line = {"test": test, "outcome": "failed", "cause": cause}
                    lines.write(json.dumps(line) + "\n")
            if not running or len(found) == before:
                return


def read_outcomes(record: Path) -> dict[str, Outcome]:
    """Return the last outcome of each test."""
    found = {}
    for line in record.read_text().splitlines() if record.exists() else []:
        values = json.loads(line)
        found[values.pop("test")] = Outcome(values.pop("outcome"), values.pop("cause"), values)
    return found


def read_reasons(path: Path) -> list[Reason]:
    """Return the reasons of a TOML file, tables named ``reason``."""
    return [Reason(**table) for table in tomllib.loads(path.read_text())["reason"]]


def explain(
    found: Mapping[str, Outcome], reasons: Iterable[Reason]
) -> tuple[dict[str, list[str]], dict[str, list[str]]]:
    """Return the failed tests by known reason, and the others by cause, from many to few.

    A cause is the first line of the message, without numbers and addresses.
    """
    reasons = list(reasons)
    explained, groups = defaultdict(list), defaultdict(list)
    for test, outcome in found.items():
        if outcome.outcome != "failed":
            continue
        reason = next((r.reason for r in reasons if r.explains(test, outcome.cause)), None)
        if reason:
            explained[reason].append(test)
        else:
            groups[_without_numbers(outcome.cause)].append(test)
    return _by_count(explained), _by_count(groups)


def find_stale_reasons(
    found: Mapping[str, Outcome], reasons: Iterable[Reason]
) -> dict[str, list[str]]:
    """Return the tests that pass though a reason names them, by that reason."""
    stale = defaultdict(list)
    for reason in reasons:
        for test, outcome in found.items():
            if reason.test and outcome.outcome == "passed" and re.search(reason.test, test):
                stale[reason.reason].append(test)
    return dict(stale)


def print_failures(groups: Mapping[str, Sequence[str]]) -> None:
    """Print each cause with the names of its tests."""
    for cause, tests in groups.items():
        names = sorted(test.split("::")[-1] for test in tests)
        print(f"{len(tests)}  {cause}\n    {', '.join(names)}")


def count_outcomes(found: Iterable[Outcome]) -> str:
    """Return how many tests passed, failed and were skipped."""
    counts = Counter(outcome.outcome for outcome in found)
    return ", ".join(f"{counts[word]} {word}" for word in ("passed", "failed", "skipped"))


def _without_numbers(cause: str) -> str:
    first = next((line for line in cause.splitlines() if line.strip()), "no message")
    return re.sub(r"0x[0-9a-f]+|\d+", "N", first)[:160]


def _by_count(groups: Mapping[str, list[str]]) -> dict[str, list[str]]:
    return dict(sorted(groups.items(), key=lambda group: -len(group[1])))
