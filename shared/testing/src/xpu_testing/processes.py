"""Processes that end together: a child, all that it starts, and it itself when its parent dies.

Needs no other module of ours, so that scripts outside any environment can use it. Linux only.
"""

from __future__ import annotations

import os
import shutil
import signal
import subprocess
import time
import uuid
from collections.abc import Iterable, Mapping, MutableMapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import Any

# Descendants inherit it, which finds those that have left their session and their parent.
VARIABLE = "PROCESS_TREES"


def join_new_tree(environment: MutableMapping[str, str]) -> str:
    """Put a new tree's name into the variables of a process; return the name. Outer trees stay."""
    name = uuid.uuid4().hex
    outer = environment.get(VARIABLE) or os.environ.get(VARIABLE)
    environment[VARIABLE] = f"{outer}:{name}" if outer else name
    return name


def with_parent(command: Sequence[str], signal_name: str = "KILL") -> list[str]:
    """Return the command that gets a signal when the thread that starts it ends.

    A hook before exec would do it too, but it forks this process, which the frameworks warn of.
    """
    setpriv = shutil.which("setpriv")  # of util-linux; without it our own kills alone reach a child
    return [setpriv, "--pdeathsig", signal_name, "--", *command] if setpriv else list(command)


def members(name: str, root: int) -> list[int]:
    """Return the processes of a tree, but never this one.

    They are those that carry its name, `root`, and whatever these have started.
    """
    parents = _parents()
    found = {pid for pid in parents if pid == root or _carries(pid, name)}
    fresh = found
    while fresh:
        fresh = {pid for pid, parent in parents.items() if parent in fresh} - found
        found |= fresh
    return sorted(found - {os.getpid()})


def kill(name: str, root: int, spare: Iterable[int] = ()) -> None:
    """Kill a tree. Its processes are stopped first, so that none can start another meanwhile."""
    stopped: set[int] = set()
    while fresh := set(members(name, root)) - stopped - set(spare):
        for pid in fresh:
            _send(pid, signal.SIGSTOP)
        stopped |= fresh
    for pid in stopped:
        _send(pid, signal.SIGKILL)


def describe(pids: Iterable[int]) -> str:
    """Return a line for each process: its number, how long it runs, its command."""
    lines = []
    for pid in pids:
        with suppress(OSError, ValueError, IndexError):
            words = Path(f"/proc/{pid}/cmdline").read_bytes().replace(b"\0", b" ")
            command = " ".join(words.decode(errors="replace").split())
            if command:
                lines.append(f"  {pid}  {_age(pid):.0f} s  {command[:160]}")
    return "\n".join(lines)


class ProcessTree:
    """A child in a session of its own, with all that it starts."""

    def __init__(
        self,
        command: Sequence[str],
        env: Mapping[str, str] | None = None,
        parent_signal: str = "KILL",
        **options: Any,
    ) -> None:
        """Start the child; `options` are those of `subprocess.Popen`. It dies with the calling thread."""
        environment = dict(os.environ if env is None else env)
        self._name = join_new_tree(environment)
        self.process: subprocess.Popen[Any] = subprocess.Popen(
            with_parent(command, parent_signal), env=environment, start_new_session=True, **options
        )

    def members(self) -> list[int]:
        """Return the processes that have not ended."""
        return members(self._name, self._root())

    def kill(self) -> None:
        """Kill the child and all that it started. Does not wait for them."""
        kill(self._name, self._root())

    def _root(self) -> int:
        """Return the child's pid; 0 once it is reaped, since the pid may then belong to another process."""
        return self.process.pid if self.process.returncode is None else 0

    def terminate(self, grace: float) -> None:
        """Ask every process to end, and kill those that have not after `grace` seconds."""
        for pid in self.members():
            _send(pid, signal.SIGTERM)
        deadline = time.monotonic() + grace
        while time.monotonic() < deadline and (self.process.poll() is None or self.members()):
            time.sleep(0.05)
        self.kill()
        self.process.wait()


def run(
    command: Sequence[str], timeout: float, input: str | None = None, **options: Any
) -> subprocess.CompletedProcess[str]:
    """Run a command and return its status and output. After `timeout` seconds its whole tree is killed.

    TimeoutExpired then carries the output, and a note says which processes were running.
    """
    tree = ProcessTree(
        command,
        stdin=subprocess.DEVNULL if input is None else subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        errors="replace",
        **options,
    )
    process = tree.process
    try:
        out, err = process.communicate(input, timeout=timeout)
    except subprocess.TimeoutExpired:
        running = describe(tree.members())
        tree.kill()
        out, err = _output_of_killed(process)
        error = subprocess.TimeoutExpired(process.args, timeout, out, err)
        error.add_note(f"running were:\n{running}\n--- out\n{out[-4000:]}\n--- err\n{err[-4000:]}")
        raise error from None
    except BaseException:
        tree.kill()
        _output_of_killed(process)
        raise
    return subprocess.CompletedProcess(list(command), process.returncode, out, err)


def _output_of_killed(process: subprocess.Popen[str]) -> tuple[str, str]:
    """Return the output of a killed child; nothing if a process outside its tree holds the pipe open."""
    try:
        return process.communicate(timeout=10)
    except subprocess.TimeoutExpired:
        return "", ""


def _parents() -> dict[int, int]:
    """Return the parent of every process that has not ended."""
    found = {}
    for entry in os.scandir("/proc"):
        if entry.name.isdigit():
            with suppress(OSError):
                fields = _status(int(entry.name))
                if fields[0] not in ("Z", "X"):
                    found[int(entry.name)] = int(fields[1])
    return found


def _status(pid: int) -> list[str]:
    """Return the fields after the name in /proc/PID/stat: state, parent and so on."""
    return Path(f"/proc/{pid}/stat").read_text(errors="replace").rpartition(")")[2].split()


def _age(pid: int) -> float:
    started = int(_status(pid)[19]) / os.sysconf("SC_CLK_TCK")
    return float(Path("/proc/uptime").read_text().split()[0]) - started


def _carries(pid: int, name: str) -> bool:
    try:
        return name.encode() in Path(f"/proc/{pid}/environ").read_bytes()
    except OSError:
        return False  # another user's process, or ended


def _send(pid: int, number: int) -> None:
    with suppress(ProcessLookupError):
        os.kill(pid, number)
