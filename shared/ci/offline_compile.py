"""Compiles every kernel the suites build for real Intel GPUs, with Intel's offline compiler."""

from __future__ import annotations

import shutil

import nox

from .environments import Environment
from .packages import ROOT
from .suites import run_suites

# `tests` and `virtual-gpu` leave their kernels here, so that the gate does not run the suites once more.
KERNELS = ROOT / ".nox" / "kernels"


def dump_variables(name: str) -> dict[str, str]:
    """The variables under which a run of the suites leaves its kernels behind, in a folder of their own."""
    folder = KERNELS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return {"XPU_DUMP_KERNELS": str(folder)}


def run(session: nox.Session, environment: Environment) -> None:
    """Build what sessions left for each GPU; run the suites first when none has left anything."""
    if not any(KERNELS.glob("*/*.spv")):
        run_suites(session, environment, variables=dump_variables("tests"))
    # The suites test f64 on purpose; that nothing else asks for it is what the virtual dg2 shows.
    options = ["--offline-compile", "--allow-fp64", "--kernels", str(KERNELS), *session.posargs]
    environment.python(session, "-m", "xpu_sdk", "check", *options)
