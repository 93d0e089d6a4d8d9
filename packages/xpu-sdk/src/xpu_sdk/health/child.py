"""Looks at the device stack from a process of its own: what crashes there leaves the doctor standing."""

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


class ChildFailed(Exception):
    """The child ended badly; the message says how."""


def ask(code: str, variables: Mapping[str, str] | None = None) -> Any:
    """Run ``code``, which prints one line of JSON last, and return what that says."""
    try:
        command = [sys.executable, "-c", textwrap.dedent(code)]
        done = processes.run(command, TIMEOUT, env=os.environ | dict(variables or {}))
    except subprocess.TimeoutExpired as error:
        raise ChildFailed(f"did not end within {TIMEOUT} s") from error
    if done.returncode < 0:
        raise ChildFailed(f"was killed by signal {-done.returncode}: {_last(done.stderr)}")
    if done.returncode > 0:
        raise ChildFailed(_last(done.stderr))
    return json.loads(done.stdout.splitlines()[-1])


def _last(text: str) -> str:
    """The exception of a traceback, or the last line of whatever there is."""
    lines = [line for line in text.splitlines() if line.strip()]
    starts = [
        i for i, line in enumerate(lines) if line[:1].strip() and "Error" in line.split(":")[0]
    ]
    return "\n".join(lines[starts[-1] :][:12]) if starts else (lines or ["no output"])[-1]
