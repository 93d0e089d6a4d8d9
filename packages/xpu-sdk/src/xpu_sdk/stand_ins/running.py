"""Runs the user's command: its output goes where it always goes, its errors into the report too."""

from __future__ import annotations

import os
import subprocess
import sys
import threading
from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from ..processes import kill_tree


@dataclass(frozen=True)
class Ended:
    """How the command ended: exit code (negative: killed by that signal) and what it wrote to stderr.

    ``timeout``: the seconds after which it was killed; 0 when it ended by itself.
    """

    code: int
    errors: str
    timeout: float = 0

    def how(self) -> str:
        """In words."""
        if self.timeout:
            return f"did not end within {self.timeout:g} s (--timeout) and was killed"
        return (
            f"was killed by signal {-self.code}"
            if self.code < 0
            else f"ended with exit code {self.code}"
        )


def run(command: Sequence[str], variables: Mapping[str, str], timeout: float) -> Ended:
    """Run it to its end under these variables, but for at most ``timeout`` seconds; 0: for any time."""
    lines = []
    late = threading.Event()
    with subprocess.Popen(
        command,
        env=os.environ | dict(variables),
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        assert process.stderr

        def end() -> None:
            late.set()
            kill_tree(process.pid)

        timer = threading.Timer(timeout, end)
        if timeout:
            timer.start()
        try:
            for line in process.stderr:
                sys.stderr.write(line)
                lines.append(line)
        finally:
            timer.cancel()
    return Ended(process.returncode, "".join(lines), timeout if late.is_set() else 0)
