"""Compile every kernel that the suites build for real Intel GPUs, with Intel's offline compiler."""

from __future__ import annotations

import shutil

import nox

from .environments import Environment
from .packages import ROOT
from .suites import run_suites

# `tests` and `virtual-gpu` write their kernels here, so that CI does not run the suites once more.
KERNELS = ROOT / ".nox" / "kernels"


def dump_variables(name: str) -> dict[str, str]:
    """Empty a folder; return the variables under which the suites write their kernels to it."""
    folder = KERNELS / name
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    return {"XPU_DUMP_KERNELS": str(folder)}


def run(session: nox.Session, environment: Environment) -> None:
    """Build the kernels of earlier sessions for each GPU; run the suites first if there are none."""
    if not any(KERNELS.glob("*/*.spv")):
        run_suites(session, environment, variables=dump_variables("tests"))
    # The suites test f64 on purpose; the session virtual-gpu shows on dg2 that nothing else needs it.
    options = ["--offline-compile", "--allow-fp64", "--kernels", str(KERNELS), *session.posargs]
    environment.python(session, "-m", "xpu_sdk", "check", *options)
