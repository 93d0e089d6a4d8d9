"""Run the parts of CI, some in parallel, and report the state of each.

Each line of the input is a command. An empty line ends a stage: the next one begins when all its commands
have ended. If a part of the first stage fails, nothing else runs. Each part has its own log and a time limit.
"""

from __future__ import annotations

import argparse
import re
import shlex
import subprocess
import sys
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path

sys.path.insert(0, f"{Path(__file__).resolve().parents[1]}/shared/testing/src/xpu_testing")

from processes import ProcessTree, describe
from stopping import Stopped, stoppable

ROOT = Path(__file__).resolve().parents[1]
GRACE_SECONDS = 15  # from SIGTERM to SIGKILL, for a last report
POLL_SECONDS = 0.2
TAIL_BYTES = 1 << 14
_CONTROL = re.compile(r"\x1b\[[0-9;]*[A-Za-z]")
_FAILURE = re.compile(r"(FAILED|ERROR|E  |nox > .*(error|fail))")


@dataclass
class Part:
    """A command and its state: not run, running, passed, FAILED, TIMED OUT or stopped."""

    command: str
    log: Path
    state: str = "not run"
    seconds: float = 0.0
    _began: float = field(default=0.0, repr=False)
    _tree: ProcessTree | None = field(default=None, repr=False)

    def start(self) -> None:
        """Start the command in the background. It dies with this process."""
        self.log.parent.mkdir(parents=True, exist_ok=True)
        self.state, self._began = "running", time.monotonic()
        with self.log.open("wb") as output:
            self._tree = ProcessTree(
                shlex.split(self.command),
                parent_signal="TERM",
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=subprocess.STDOUT,
                cwd=ROOT,
            )

    def has_ended(self, limit: float) -> bool:
        """Return True if the command has ended. Kill it once it has run for `limit` seconds."""
        assert self._tree
        self.seconds = time.monotonic() - self._began
        status = self._tree.process.poll()
        if status is not None:
            self.state = "FAILED" if status else "passed"
        elif self.seconds > limit:
            self._end(f"takes longer than its limit of {limit:.0f} s")
            self.state = "TIMED OUT"
        return self.state != "running"

    def stop(self) -> None:
        """Kill the command because the run is stopped."""
        self.seconds = time.monotonic() - self._began
        self._end("is stopped")
        self.state = "stopped"

    def _end(self, why: str) -> None:
        assert self._tree
        running = describe(self._tree.members())
        self._tree.terminate(GRACE_SECONDS)
        with self.log.open("a") as output:
            output.write(f"\n{self.command} {why}; running were:\n{running}\n")

    def last_lines(self, count: int) -> list[str]:
        """Return the last lines of its output, as a terminal would show them."""
        with self.log.open("rb") as log:
            log.seek(max(0, log.seek(0, 2) - TAIL_BYTES))
            text = _CONTROL.sub("", log.read().decode(errors="replace"))
        lines = [line.rpartition("\r")[2].rstrip() for line in text.split("\n")]
        return [line for line in lines if line][-count:]

    def failures(self, count: int) -> list[str]:
        """Return the last lines of its output that name a failed test, an exception or a failed command."""
        text = _CONTROL.sub("", self.log.read_text(errors="replace"))
        return [line[:300] for line in text.splitlines() if _FAILURE.match(line)][-count:]


class Run:
    """All parts of one run."""

    def __init__(self, stages: Sequence[Sequence[Part]], options: argparse.Namespace) -> None:
        self._stages, self._options = stages, options
        self._began = time.monotonic()
        self._next = options.interval
        self._running: list[Part] = []

    @property
    def parts(self) -> list[Part]:
        """Every part, in the order of the input."""
        return [part for stage in self._stages for part in stage]

    def run(self) -> int:
        """Run everything and return the exit code."""
        stopped = None
        try:
            with stoppable():
                for number, stage in enumerate(self._stages):
                    self._run_stage(stage)
                    if number == 0 and any(part.state != "passed" for part in stage):
                        break
        except Stopped as error:
            stopped = error
            self._stop(error)
        for part in self.parts:
            if part.state in ("FAILED", "TIMED OUT"):
                # Where only the end of a log is kept, it has the reasons.
                print(f"=== {part.state}: {part.command}")
                print(*part.failures(20) or part.last_lines(20), sep="\n")
        print("=== time of each part")
        for part in self.parts:
            print(f"{part.command:<32} {part.seconds:5.0f} s  {part.state}")
        print(f"all: {time.monotonic() - self._began:.0f} s", flush=True)
        if stopped:
            return stopped.exit_code
        return int(any(part.state != "passed" for part in self.parts))

    def _run_stage(self, stage: Sequence[Part]) -> None:
        waiting = list(stage)
        while waiting or self._running:
            while waiting and len(self._running) < self._options.jobs:
                self._running.append(waiting[0])
                waiting.pop(0).start()
            time.sleep(POLL_SECONDS)
            for part in list(self._running):
                if part.has_ended(self._options.timeout):
                    self._running.remove(part)
                    self._show(part)
            self._say_regularly()

    def _show(self, part: Part) -> None:
        """Print the whole output of a part."""
        print(f"=== {part.command}", flush=True)
        with part.log.open("rb") as log:
            sys.stdout.buffer.write(log.read())
        print(f"\n=== {part.command}: {part.state} after {part.seconds:.0f} s", flush=True)

    def _say_regularly(self) -> None:
        seconds = time.monotonic() - self._began
        if seconds < self._next or not self._running:
            return
        self._next = seconds + self._options.interval
        ended = sum(part.state not in ("not run", "running") for part in self.parts)
        print(f"--- {clock(seconds)}: {ended} of {len(self.parts)} parts done; running:")
        for part in self._running:
            last = "".join(part.last_lines(1))[-100:]
            print(f"    {clock(part.seconds)}  {part.command}: {last}", flush=True)

    def _stop(self, why: Stopped) -> None:
        print(
            f"\n=== {why} after {clock(time.monotonic() - self._began)}; running were:", flush=True
        )
        for part in self._running:
            part.stop()
            print(f"--- {part.command}, for {clock(part.seconds)}, whole in {part.log}:")
            print(*part.last_lines(20), sep="\n", flush=True)


def clock(seconds: float) -> str:
    """Return a time as minutes and seconds."""
    minutes, second = divmod(round(seconds), 60)
    return f"{minutes}:{second:02}"


def read_stages(lines: Sequence[str], logs: Path) -> list[list[Part]]:
    """Return the parts of each stage."""
    stages: list[list[Part]] = [[]]
    for line in map(str.strip, lines):
        if not line:
            stages.append([])
        elif not line.startswith("#"):
            number = sum(map(len, stages)) + 1
            name = re.sub(r"\W+", "-", line.removeprefix("python3 -m "))
            stages[-1].append(Part(line, logs / f"{number:02}-{name}.log"))
    return [stage for stage in stages if stage]


def main() -> int:
    """Run the stages that standard input lists; return 1 if a part did not pass."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--jobs", type=int, default=1, help="number of parallel parts")
    parser.add_argument("--timeout", type=float, default=3600, help="seconds a part may take")
    parser.add_argument("--interval", type=float, default=30, help="seconds between reports")
    parser.add_argument("--logs", type=Path, default=ROOT / ".nox" / "ci", metavar="FOLDER")
    options = parser.parse_args()
    return Run(read_stages(sys.stdin.read().splitlines(), options.logs), options).run()


if __name__ == "__main__":
    sys.exit(main())
