"""Plugin of pytest: outcomes of tests go to a file as they come, and a later run leaves out the tests in it.

The variable ``XPU_UPSTREAM_RECORD`` names the file. Each line is an object of JSON.
"""

from __future__ import annotations

import json
import linecache
import os
from pathlib import Path

import pytest

VARIABLE = "XPU_UPSTREAM_RECORD"
STARTED = "started"


def write(test: str, outcome: str, cause: str = "", **properties: object) -> None:
    """Append the outcome of a test, or of a file that cannot be collected."""
    line = {"test": test, "outcome": outcome, "cause": cause, **properties}
    with Path(os.environ[VARIABLE]).open("a") as record:
        record.write(json.dumps(line) + "\n")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests that the record has."""
    path = Path(os.environ[VARIABLE])
    lines = path.read_text().splitlines() if path.exists() else []
    recorded = {json.loads(line)["test"] for line in lines}
    items[:] = [item for item in items if item.nodeid not in recorded]


def pytest_collectreport(report: pytest.CollectReport) -> None:
    """Record a file that cannot be imported, or that leaves itself out."""
    if report.outcome != "passed":
        write(report.nodeid, report.outcome, _cause(report))


def pytest_runtest_logstart(nodeid: str) -> None:
    """Record the test first, in case that it ends the process."""
    write(nodeid, STARTED)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record the outcome, with the properties that other plugins gave the test."""
    if report.when == "call" or report.outcome != "passed":
        properties = {name: value for name, value in report.user_properties}
        write(report.nodeid, report.outcome, _cause(report), **properties)


def _cause(report: pytest.CollectReport | pytest.TestReport) -> str:
    """Return the message of the exception, or the reason to skip."""
    if isinstance(report.longrepr, tuple):  # a skipped test: file, line, reason
        return report.longrepr[2].removeprefix("Skipped: ")
    crash = getattr(report.longrepr, "reprcrash", None)
    if crash is None:
        lines = str(report.longrepr or "").splitlines()
        return next((line[1:].strip() for line in reversed(lines) if line.startswith("E ")), "")
    if crash.message in ("AssertionError", "assert"):
        return f"{crash.message}: {linecache.getline(crash.path, crash.lineno).strip()}"
    return crash.message
