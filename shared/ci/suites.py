"""Run the packages' pytest suites, each in its own process."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path

import nox

from .environments import Environment
from .packages import PACKAGES, ROOT, SHARED_PACKAGES

SUITES = {package.area: package.path / "tests" for package in PACKAGES + SHARED_PACKAGES}


def chosen_suites(session: nox.Session) -> list[str]:
    """Return the suites that the command line names, or all."""
    return [word for word in session.posargs if word in SUITES] or list(SUITES)


def run_suites(
    session: nox.Session,
    environment: Environment,
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run every suite, or those that the command line names. An error at the end names the failed ones.

    ``nox -s tests -- runtime -k stream`` runs the runtime's suite with ``-k stream``.
    """
    arguments = [word for word in session.posargs if word not in SUITES]
    failed = []
    for area in chosen_suites(session):
        if not SUITES[area].is_dir():
            continue
        try:
            run_suite(session, environment, SUITES[area], arguments, variables)
        except nox.command.CommandFailed:
            failed.append(area)
    if failed:
        session.error(f"failed: {', '.join(failed)}")


def run_suite(
    session: nox.Session,
    environment: Environment,
    folder: Path,
    arguments: Sequence[str],
    variables: Mapping[str, str] | None = None,
) -> None:
    """Run pytest on the tests of a folder."""
    command = ["-m", "pytest", "-c", str(ROOT / "pyproject.toml"), f"--rootdir={ROOT}"]
    command += ["--durations=12", *arguments, str(folder)]
    environment.python(session, *command, env=dict(variables or {}))
