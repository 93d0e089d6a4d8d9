"""A command that runs beside a session's other work."""

from __future__ import annotations

import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import nox


@contextmanager
def run(session: nox.Session, program: str, *arguments: str) -> Iterator[None]:
    """Run a program of the session's environment while the block runs, then wait until it ends.

    An error in the block ends the program. If the program fails, the session fails.
    """
    command = [f"{session.bin}/{program}", *arguments]
    session.log(f"in the background: {' '.join(command)}")
    process = subprocess.Popen(command)
    try:
        yield
        status = process.wait()
    finally:
        process.terminate()
        process.wait()
    if status:
        session.error(f"status {status}: {' '.join(command)}")
