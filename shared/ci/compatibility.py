"""The record of suites that ran with other versions than those of CI, docs/compatibility.json."""

from __future__ import annotations

import datetime
import json
from collections.abc import Iterable
from pathlib import Path
from xml.etree import ElementTree

import nox

from .environments import Environment
from .packages import ROOT

FILE = ROOT / "docs" / "compatibility.json"
FRAMEWORKS = ("torch", "torchao", "triton", "jax")
VERSIONS = """
import importlib.metadata, json, platform, sys
found = {each.name: each.version for each in importlib.metadata.distributions()}
known = {name: found[name].partition("+")[0] for name in sys.argv[1:] if name in found}
print(json.dumps([platform.python_version(), known]))
"""


def record(
    session: nox.Session, environment: Environment, suites: Iterable[str], reports: Iterable[Path]
) -> None:
    """Add a run, or replace the one of the same suites and versions; reports are JUnit's."""
    python, versions = json.loads(environment.output(session, "-c", VERSIONS, *FRAMEWORKS))
    run = {"suites": sorted(suites), "python": python, "versions": versions}
    known = json.loads(FILE.read_text())
    others = [other for other in known if any(other[key] != value for key, value in run.items())]
    counts = dict.fromkeys(("tests", "failures", "errors", "skipped"), 0)
    for report in reports:
        for suite in ElementTree.parse(report).iter("testsuite"):
            for name in counts:
                counts[name] += int(suite.get(name, 0))
    failed = counts["failures"] + counts["errors"]
    run["passed"] = counts["tests"] - failed - counts["skipped"]
    run["failed"], run["skipped"] = failed, counts["skipped"]
    run["date"] = datetime.date.today().isoformat()
    FILE.write_text(json.dumps([*others, run], indent=1) + "\n")
