"""Run probes in a child process, so that a driver crash does not end `xpu-sdk doctor`."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import textwrap
from collections.abc import Mapping
from typing import Any

from .. import processes

TIMEOUT = 120


class ProbeFailed(Exception):
    """A probe crashed, failed or timed out; the message says which."""


def run_probe(code: str, variables: Mapping[str, str] | None = None) -> Any:
    """Run ``code`` in a child; return the value of the JSON that its last line of output holds."""
    try:
        command = [sys.executable, "-c", textwrap.dedent(code)]
        done = processes.run(command, TIMEOUT, env=os.environ | dict(variables or {}))
    except subprocess.TimeoutExpired as error:
        raise ProbeFailed(f"did not end within {TIMEOUT} s") from error
    if done.returncode < 0:
        raise ProbeFailed(f"was killed by signal {-done.returncode}: {_last(done.stderr)}")
    if done.returncode > 0:
        raise ProbeFailed(_last(done.stderr))
    return json.loads(done.stdout.splitlines()[-1])


def _last(text: str) -> str:
    """Return the exception of a traceback, otherwise the last line."""
    lines = [line for line in text.splitlines() if line.strip()]
    starts = [
        i for i, line in enumerate(lines) if line[:1].strip() and "Error" in line.split(":")[0]
    ]
    return "\n".join(lines[starts[-1] :][:12]) if starts else (lines or ["no output"])[-1]
