"""Runs the user's command: its output goes where it always goes, its errors into the report too."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Ended:
    """How the command ended: exit code (negative: killed by that signal) and what it wrote to stderr."""

    code: int
    errors: str

    def how(self) -> str:
        """In words."""
        return (
            f"was killed by signal {-self.code}"
            if self.code < 0
            else f"ended with exit code {self.code}"
        )


def run(command: Sequence[str], variables: Mapping[str, str]) -> Ended:
    """Run it to its end under these variables."""
    lines = []
    with subprocess.Popen(
        command,
        env=os.environ | dict(variables),
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
    ) as process:
        assert process.stderr
        for line in process.stderr:
            sys.stderr.write(line)
            lines.append(line)
    return Ended(process.returncode, "".join(lines))
