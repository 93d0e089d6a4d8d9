"""Run a program in a child process, for code that may end its process or needs a fresh one."""

from __future__ import annotations

import os
import sys
import textwrap
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from . import processes, validation


@dataclass(frozen=True)
class ChildResult:
    """Exit code of a child (negative: the signal that killed it), and its output."""

    exit_code: int
    out: str
    err: str

    def check(self) -> ChildResult:
        """Return this result if the exit code is 0; otherwise fail, showing the output."""
        assert self.exit_code == 0, (
            f"child ended with {self.exit_code}\n--- out\n{self.out}\n--- err\n{self.err}"
        )
        return self


def run_child(
    program: str | Path,
    env: Mapping[str, str | None] | None = None,
    timeout: float = 120,
    cwd: str | os.PathLike[str] | None = None,
    arguments: Sequence[str] = (),
) -> ChildResult:
    """Run Python code, or the file of a path, in a fresh interpreter.

    ``env`` adds variables, or takes them away with None. The child and all that it starts are killed
    after ``timeout`` seconds, and the child when its caller dies.
    """
    variables = dict(os.environ)
    for name, value in (env or {}).items():
        if value is None:
            variables.pop(name, None)
        else:
            variables[name] = value
    variables |= validation.variables(variables)
    source = ["-c", textwrap.dedent(program)] if isinstance(program, str) else [str(program)]
    done = processes.run([sys.executable, *source, *arguments], timeout, env=variables, cwd=cwd)
    return ChildResult(done.returncode, done.stdout, done.stderr)
