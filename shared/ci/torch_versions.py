"""Test the adapters of PyTorch in the other versions that a release is compiled for."""

from __future__ import annotations

import nox

from . import compatibility, torch_wheels
from .environments import Environment, preparation_lock
from .packages import PACKAGES, SHARED_PACKAGES
from .suites import SUITES, run_suite
from .wheels import build_wheels

ADAPTERS = ("torch-xpu", "inductor-xpu", "ao-xpu")
# Versions of PyTorch and what the suites need with each; other requirements are those of the suites.
REQUIREMENTS = {
    "2.14.1": ("triton==3.8.*",),
    "2.15.0": ("triton==3.9.*",),
}
# Every third test, by its name.
ARGUMENTS = ("--sample", "3")


def run(session: nox.Session) -> None:
    """Install each version, in its wheel for CUDA, and run a part of the suites; arguments go to pytest.

    Arguments may name versions and suites: ``nox -s torch-versions -- 2.14.1 inductor-xpu``.
    """
    named = [version for version in REQUIREMENTS if version in session.posargs]
    suites = [adapter for adapter in ADAPTERS if adapter in session.posargs] or ADAPTERS
    arguments = [one for one in session.posargs if one not in {*REQUIREMENTS, *ADAPTERS}]
    with preparation_lock():
        wheels = build_wheels(session, PACKAGES + SHARED_PACKAGES, torches=torch_wheels.VERSIONS)
    adapters = [package for package in PACKAGES if package.wheel in ADAPTERS]
    failed = []
    for version in named or REQUIREMENTS:
        environment = Environment(f"torch-{version}", constraints=None)
        groups = [line for package in adapters for line in package.group("test")]
        groups = [line for line in groups if not line.startswith(("triton", "torch="))]
        needed = [f"torch==={version}", *REQUIREMENTS[version], *groups]
        with preparation_lock():
            environment.install(session, *needed)
            environment.install_wheels(session, wheels, needed)
        reports = []
        for suite in suites:
            reports.append(environment.path / f"{suite}.xml")
            given = [*ARGUMENTS, f"--junitxml={reports[-1]}", *arguments]
            try:
                run_suite(session, environment, SUITES[suite], given)
            except nox.command.CommandFailed:
                failed.append(f"{suite} in torch {version}")
        if all(report.exists() for report in reports):
            compatibility.record(session, environment, suites, reports)
    if failed:
        session.error(f"failed: {', '.join(failed)}")
