"""Child processes with a time limit, after which a child is killed with all that it started."""

from __future__ import annotations

import os
import signal
import subprocess
from collections.abc import Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any


def run(command: Sequence[str], timeout: float, **options: Any) -> subprocess.CompletedProcess[str]:
    """Run a command and return its status and output. After ``timeout`` kill it, raise TimeoutExpired."""
    with subprocess.Popen(
        command,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        **options,
    ) as process:
        try:
            out, err = process.communicate(timeout=timeout)
        except BaseException:
            kill_tree(process.pid)
            raise
    return subprocess.CompletedProcess(command, process.returncode, out, err)


def kill_tree(root: int) -> None:
    """Kill a process and its descendants. Stops them first, so that none can start another."""
    stopped: set[int] = set()
    while fresh := _with_descendants(root) - stopped:
        for pid in fresh:
            _send(pid, signal.SIGSTOP)
        stopped |= fresh
    for pid in stopped:
        _send(pid, signal.SIGKILL)


def _with_descendants(root: int) -> set[int]:
    parents = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):  # the process has ended
                status = Path(entry.path, "stat").read_text(errors="replace")
                parents[int(entry.name)] = int(status.rpartition(")")[2].split()[1])
    found = fresh = {root}
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found = found | fresh
    return found


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
