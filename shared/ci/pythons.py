"""Test a part of every suite on other Pythons than the one that runs nox."""

from __future__ import annotations

import nox

from . import compatibility, torch_wheels
from .environments import Environment, preparation_lock
from .interpreters import newer_interpreters
from .packages import PACKAGES, SHARED_PACKAGES
from .suites import SUITES, chosen_suites, run_suite
from .wheels import build_wheels

# Every twelfth test, by its name.
ARGUMENTS = ("--sample", "12")


def run(session: nox.Session) -> None:
    """Run suites with newer Pythons of this machine: those that the command line names, or all.

    ``nox -s pythons -- 3.13 ao-xpu`` runs one suite with one Python.
    """
    failed = []
    found = newer_interpreters()
    named = [one for one in found if one.suffix.removeprefix("-") in session.posargs]
    for interpreter in named or found:
        environment = Environment("device", interpreter)
        groups = [line for package in PACKAGES for line in package.group("test")]
        with preparation_lock():
            # Those of a release.
            torches = torch_wheels.VERSIONS
            wheels = build_wheels(session, PACKAGES + SHARED_PACKAGES, interpreter, torches=torches)
            environment.install_wheels(session, wheels, groups)
        session.log(f"suites of {', '.join(chosen_suites(session))} with {interpreter.path}")
        reports = []
        for area in chosen_suites(session):
            reports.append(environment.path / f"{area}.xml")
            arguments = [*ARGUMENTS, f"--junitxml={reports[-1]}"]
            try:
                run_suite(session, environment, SUITES[area], arguments)
            except nox.command.CommandFailed:
                failed.append(f"{area} with {interpreter.path}")
        if all(report.exists() for report in reports):
            compatibility.record(session, environment, chosen_suites(session), reports)
    if failed:
        session.error(f"failed: {', '.join(failed)}")
