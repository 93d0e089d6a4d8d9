"""Compiles every kernel the suites build for real Intel GPUs, with Intel's offline compiler."""

from __future__ import annotations

import shutil

import nox

from .environments import Environment
from .packages import ROOT
from .suites import run_suites

# `tests` leaves the SPIR-V of every kernel here, so that the gate does not run the suites once more.
KERNELS = ROOT / ".nox" / "kernels"


def fresh_dump() -> dict[str, str]:
    """The variables under which a run of the suites leaves its kernels behind."""
    shutil.rmtree(KERNELS, ignore_errors=True)
    KERNELS.mkdir(parents=True)
    return {"XPU_DUMP_KERNELS": str(KERNELS)}


def run(session: nox.Session, environment: Environment) -> None:
    """Build all of it for each GPU; run the suites first when `tests` has left nothing."""
    if not any(KERNELS.glob("*.spv")):
        run_suites(session, environment, variables=fresh_dump())
    # The suites test f64 on purpose; that nothing else asks for it is what the virtual dg2 shows.
    options = ["--isa", "--allow-fp64", "--kernels", str(KERNELS)]
    environment.python(session, "-m", "xpu_sdk", "check", *options)
