"""Run the user's command: its stderr goes to the terminal as usual, and into the report."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..processes import kill_tree


@dataclass(frozen=True)
class ProcessResult:
    """Exit code of a command (negative: the signal that killed it) and its stderr.

    ``timeout``: the seconds after which it was killed; 0 if it ended by itself.
    """

    code: int
    errors: str
    timeout: float = 0

    def describe(self) -> str:
        """Return the predicate of a sentence: "ended with exit code 3"."""
        if self.timeout:
            return f"did not end within {self.timeout:g} s (--timeout) and was killed"
        return (
            f"was killed by signal {-self.code}"
            if self.code < 0
            else f"ended with exit code {self.code}"
        )


def run_command(
    command: Sequence[str], variables: Mapping[str, str], timeout: float
) -> ProcessResult:
    """Run the command with these variables set; kill it after ``timeout`` seconds (0: never)."""
    lines = []
    timed_out = threading.Event()
    with subprocess.Popen(
        command,
        env=os.environ | dict(variables),
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        assert process.stderr

        def kill() -> None:
            timed_out.set()
            kill_tree(process.pid)

        timer = threading.Timer(timeout, kill)
        if timeout:
            timer.start()
        try:
            for line in process.stderr:
                sys.stderr.write(line)
                lines.append(line)
        finally:
            timer.cancel()
    return ProcessResult(process.returncode, "".join(lines), timeout if timed_out.is_set() else 0)
