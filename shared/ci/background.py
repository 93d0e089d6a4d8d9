"""A command that runs beside a session's other work."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager

import nox


@contextmanager
def run(session: nox.Session, *command: str) -> Iterator[None]:
    """Run a command of the session's environment during the block, and wait for it at the end.

    If the block fails, the command is ended. If the command fails, so does the session.
    """
    path = os.pathsep.join([*session.bin_paths, os.environ["PATH"]])
    session.log(f"in the background: {' '.join(command)}")
    process = subprocess.Popen(["env", f"PATH={path}", *command])
    try:
        yield
        status = process.wait()
    finally:
        process.terminate()
        process.wait()
    if status:
        session.error(f"{command[0]} ended with {status}: {' '.join(command)}")
