"""Compiles every kernel the suites build for real Intel GPUs, with Intel's offline compiler."""

from __future__ import annotations

import tempfile

import nox

from .environments import Environment
from .suites import run_suites


def run(session: nox.Session, environment: Environment) -> None:
    """Collect the SPIR-V of every kernel, then build all of it for each GPU."""
    with tempfile.TemporaryDirectory(prefix="xpu-isa-") as kernels:
        run_suites(session, environment, variables={"XPU_DUMP_KERNELS": kernels})
        environment.python(session, "-m", "xpu_sdk", "check", "--isa", "--kernels", kernels)
