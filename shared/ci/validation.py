"""Run the suites under Unified Runtime's validation layer, and fail if it reports anything."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

import nox

from .environments import Environment
from .packages import ROOT
from .suites import run_suites

sys.path.insert(0, str(ROOT / "shared" / "testing" / "src" / "xpu_testing"))

from validation import findings


def run(session: nox.Session, environment: Environment) -> None:
    """Run every process of the suites under the layer, which also reports leaks at exit."""
    with tempfile.TemporaryDirectory() as logs:
        run_suites(session, environment, variables={"XPU_VALIDATION_LOGS": logs})
        found = findings(Path(logs))
        if found:
            session.error("the validation layer reports:\n" + "\n".join(found[:200]))
