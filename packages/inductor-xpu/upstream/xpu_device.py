"""Plugin of pytest: PyTorch's tests of Inductor take xpu for their GPU; their outcomes go to a file."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

# What PyTorch's tests ask before they define those for GPUs. They take Triton for granted on every GPU.
_TRUE = ("HAS_XPU_AND_TRITON", "HAS_GPU", "HAS_GPU_AND_TRITON", "RUN_GPU")

RECORD = "XPU_UPSTREAM_RECORD"
STARTED = "started"


def pytest_configure() -> None:
    """Make xpu the GPU, before the tests are imported."""
    from torch.testing._internal import inductor_utils

    for name in _TRUE:
        setattr(inductor_utils, name, True)
    inductor_utils.RUN_CPU = False
    inductor_utils.GPU_TYPE = "xpu"


def _write(test: str, outcome: str, cause: str = "") -> None:
    with Path(os.environ[RECORD]).open("a") as record:
        record.write(json.dumps([test, outcome, cause]) + "\n")


def pytest_collection_modifyitems(items: list[pytest.Item]) -> None:
    """Leave out the tests that the record has."""
    path = Path(os.environ[RECORD])
    known = {json.loads(line)[0] for line in path.read_text().splitlines()} if path.exists() else ()
    items[:] = [item for item in items if item.nodeid not in known]


def pytest_runtest_logstart(nodeid: str) -> None:
    """Record the test first, in case that it ends the process."""
    _write(nodeid, STARTED)


def pytest_runtest_logreport(report: pytest.TestReport) -> None:
    """Record the outcome."""
    if report.when == "call" or report.outcome != "passed":
        crash = getattr(report.longrepr, "reprcrash", None)
        reason = report.longrepr[2] if isinstance(report.longrepr, tuple) else ""
        _write(report.nodeid, report.outcome, crash.message if crash else str(reason))
