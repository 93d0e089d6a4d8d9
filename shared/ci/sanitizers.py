"""Build the runtime and its C++ tests under the compiler's sanitizers, and run them."""

from __future__ import annotations

import os
import shutil

import nox

from .environments import Environment, preparation_lock
from .interpreters import OWN
from .packages import PACKAGES
from .wheels import compiler_environment

CHECKS = ("address,undefined", "thread")


def run(session: nox.Session, checks: str) -> None:
    """Run the C++ tests with these sanitizers; the first finding fails."""
    environment = Environment("wheels")
    runtime = PACKAGES[0]
    with preparation_lock():
        environment.install(session, "pip", "wheel", *runtime.project["build-system"]["requires"])
    cmake = shutil.which("cmake")
    if not cmake:
        session.error("cmake is not installed: sudo apt-get install cmake")
    build = OWN.folder("build") / f"sanitize-{checks.replace(',', '-')}"
    options = {
        "XPU_SANITIZE": checks,
        "XPU_BUILD_TESTS": "ON",
        "XPU_PYTHON": "OFF",
        "CMAKE_BUILD_TYPE": "RelWithDebInfo",
        "Python_EXECUTABLE": str(environment.bin / "python"),
    }
    defines = [f"-D{name}={value}" for name, value in options.items()]
    variables = compiler_environment()
    configure = [cmake, "-S", str(runtime.path), "-B", str(build), *defines]
    session.run(*configure, env=variables, external=True)
    # A bare --parallel is one job for each file.
    jobs = str(len(os.sched_getaffinity(0)))
    command = [cmake, "--build", str(build), "--parallel", jobs]
    session.run(*command, env=variables, external=True)
    session.run("ctest", "--test-dir", str(build), "--output-on-failure", external=True)
