"""Run the commands that standard input lists, two at a time, and report how each ended.

An empty line ends a stage: the next one begins when all its commands have ended. If a command of the first
stage fails, nothing else runs. The output of a command is printed when it ends, and kept in `.nox/ci`.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import time
from pathlib import Path

sys.path.insert(0, f"{Path(__file__).resolve().parents[1]}/shared/testing/src/xpu_testing")

from processes import ProcessTree, describe
from stopping import Stopped, stoppable

ROOT = Path(__file__).resolve().parents[1]
JOBS = 2
GRACE_SECONDS = 15  # from SIGTERM to SIGKILL, for a last report
LINES = 20  # of each output at the end of the report
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]|.*\r(?=.)")  # with what a terminal would overwrite
_FAILURE = re.compile(r"(FAILED|ERROR|E  |nox > .*(error|fail))")


class Part:
    """A command and its state: not run, running, passed, FAILED, TIMED OUT or stopped."""

    def __init__(self, command: str) -> None:
        self.command, self.state, self.seconds = command, "not run", 0.0
        self._log = ROOT / ".nox" / "ci" / f"{re.sub(r'[^A-Za-z0-9]+', '-', command)}.log"

    def start(self) -> None:
        """Start the command in the background. It gets SIGTERM when this process ends."""
        self.state, self._began = "running", time.monotonic()
        self._log.parent.mkdir(parents=True, exist_ok=True)
        with self._log.open("wb") as output:
            self._tree = ProcessTree(
                shlex.split(self.command),
                parent_signal="TERM",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
            )

    def update(self, limit: float) -> None:
        """Print the output if the command has ended. End the command if it has run for `limit` seconds."""
        self.seconds = time.monotonic() - self._began
        status = self._tree.process.poll()
        if status is not None:
            self.state = "FAILED" if status else "passed"
        elif self.seconds > limit:
            self.end("TIMED OUT")
        if self.state != "running":
            print(f"=== {self.command}\n{self.output()}\n=== {self}", flush=True)

    def end(self, state: str) -> None:
        """End the command and all that it started; add these processes to the output."""
        self.state, running = state, describe(self._tree.members())
        self._tree.terminate(GRACE_SECONDS)
        with self._log.open("a") as output:
            output.write(f"\n{state}; running were:\n{running}\n")

    def output(self) -> str:
        """Return the output as a terminal would show it."""
        return _CONTROL.sub("", self._log.read_text(errors="replace")).rstrip()

    def reasons(self) -> list[str]:
        """Return the last lines, of a failure those that name a test, an exception or a command."""
        lines = [line[:300] for line in self.output().splitlines()]
        failures = [line for line in lines if self.state == "FAILED" and _FAILURE.match(line)]
        return (failures or lines)[-LINES:]

    def __str__(self) -> str:
        return f"{self.state:<9} {self.seconds:5.0f} s  {self.command}"


def run_stage(parts: list[Part], options: argparse.Namespace) -> None:
    """Run the parts, and say regularly which are running."""
    waiting, running, reported = list(parts), list[Part](), time.monotonic()
    while waiting or running:
        while waiting and len(running) < JOBS:
            running.append(waiting.pop(0))
            running[-1].start()
        time.sleep(0.2)
        for part in running:
            part.update(options.timeout)
        running = [part for part in running if part.state == "running"]
        if time.monotonic() - reported > options.interval:
            reported = time.monotonic()
            for part in running:
                print(f"--- {part}: {part.output().rpartition(chr(10))[2][-100:]}", flush=True)


def main() -> int:
    """Run all stages; return 1 if a part did not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--timeout", type=float, default=3600, help="seconds a part may take")
    parser.add_argument("--interval", type=float, default=30, help="seconds between reports")
    options = parser.parse_args()
    blocks = sys.stdin.read().strip().split("\n\n")
    stages = [[Part(line) for line in block.splitlines()] for block in blocks]
    parts = [part for stage in stages for part in stage]
    code = None
    try:
        with stoppable():
            for stage in stages:
                run_stage(stage, options)
                if any(part.state != "passed" for part in stages[0]):
                    break
    except Stopped as error:
        print(f"=== {error}", flush=True)
        code = error.exit_code
        for part in parts:
            if part.state == "running":
                part.end("stopped")
    # Where only the end of a log is kept, it has the reasons.
    for part in parts:
        if part.state in ("FAILED", "TIMED OUT", "stopped"):
            print(f"=== {part}", *part.reasons(), sep="\n")
    print("===", *parts, sep="\n", flush=True)
    return code or int(any(part.state != "passed" for part in parts))


if __name__ == "__main__":
    sys.exit(main())
