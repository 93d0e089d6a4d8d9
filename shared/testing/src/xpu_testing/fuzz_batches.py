"""Run a fuzzer's cases in child processes, each with a time limit; a case may end its child."""

from __future__ import annotations

import argparse
import json
import os
import queue
import selectors
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from . import validation
from .processes import ProcessTree

Result = dict[str, Any]
EXIT_SECONDS = 10  # within which a killed tree closes its pipes


@dataclass(frozen=True)
class Running:
    """A case that a child is running."""

    case: int
    subject: str
    began: float = field(default_factory=time.monotonic)

    def __str__(self) -> str:
        return f"{self.case} {self.subject} ({time.monotonic() - self.began:.0f} s)"


class Batches:
    """Children at work on batches of cases. A context: at its end no child is left."""

    def __init__(
        self, script: Path, options: argparse.Namespace, numbers: Sequence[int], failed: str
    ) -> None:
        """`failed` is the end of a case whose process died or was killed."""
        self._script, self._options, self._failed = script, options, failed
        self._batches: queue.SimpleQueue[list[int]] = queue.SimpleQueue()
        for start in range(0, len(numbers), options.batch):
            self._batches.put(list(numbers[start : start + options.batch]))
        self._results: queue.SimpleQueue[Result | Exception | None] = queue.SimpleQueue()
        self._lock = threading.Lock()
        self._trees: set[ProcessTree] = set()
        self._running: dict[int, Running] = {}
        self._closed = False

    def __enter__(self) -> Batches:
        return self

    def __exit__(self, *_: object) -> None:
        with self._lock:
            self._closed = True
            trees = list(self._trees)
        for tree in trees:
            tree.kill()

    def running(self) -> list[Running]:
        """Return the running cases, the longest first."""
        return sorted(self._running.copy().values(), key=lambda running: running.began)

    def results(self, interval: float) -> Iterator[Result | None]:
        """Yield each case's result as it comes, and None whenever `interval` seconds brought none."""
        workers = [
            threading.Thread(target=self._work, daemon=True) for _ in range(self._options.jobs)
        ]
        for worker in workers:
            worker.start()
        at_work = len(workers)
        while at_work:
            try:
                result = self._results.get(timeout=interval)
            except queue.Empty:
                yield None
                continue
            if isinstance(result, Exception):
                raise result
            if result is None:
                at_work -= 1
            else:
                yield result

    def _work(self) -> None:
        try:
            while not self._closed:
                batch = self._batches.get_nowait()
                while batch and not self._closed:
                    done = list(self._child(batch))
                    batch = batch[len(done) :]
        except queue.Empty:
            pass
        except Exception as error:  # noqa: BLE001 - raised in the main thread
            self._results.put(error)
        self._results.put(None)

    def _start(self, numbers: list[int], report: int, output: Any) -> ProcessTree | None:
        """Start a child; None once the batches are closed."""
        command = [sys.executable, str(self._script.parent), "--seed", str(self._options.seed)]
        command += ["--report", str(report), "--numbers", json.dumps(numbers)]
        for kind in self._options.mutate or ():
            command += ["--mutate", kind]
        for dtype in self._options.dtype or ():
            command += ["--dtype", dtype]
        variables = dict(os.environ)
        variables |= validation.variables(variables)
        with self._lock:
            if self._closed:
                return None
            tree = ProcessTree(
                command,
                env=variables,
                stdin=subprocess.DEVNULL,
                stdout=output,
                stderr=output,
                pass_fds=(report,),
            )
            self._trees.add(tree)
        return tree

    def _child(self, numbers: list[int]) -> Iterator[int]:
        reading, writing = os.pipe()
        with (
            tempfile.TemporaryFile("w+", errors="replace") as output,
            os.fdopen(reading, "rb", buffering=0) as report,
        ):
            try:
                tree = self._start(numbers, writing, output)
            finally:
                os.close(writing)
            if tree is None:
                return
            begun: Result | None = None
            why, done, me = "", 0, threading.get_ident()
            limit = self._options.limit
            for line in self._lines(report):
                if line is None:
                    why = f"hangs: killed after {limit:.0f} s"
                    tree.kill()
                elif begun is None:
                    begun = json.loads(line)
                    self._running[me] = Running(begun["case"], begun["subject"])
                else:
                    self._running.pop(me)
                    self._results.put(begun | json.loads(line))
                    yield begun["case"]
                    begun, done = None, done + 1
            self._running.pop(me, None)
            try:
                exit_code = tree.process.wait(limit)
            except subprocess.TimeoutExpired:
                why = f"hangs at the end of the process: killed after {limit:.0f} s"
                tree.kill()
                exit_code = tree.process.wait()
            with self._lock:
                self._trees.remove(tree)
            if (begun is not None or exit_code) and not self._closed:
                output.seek(0)
                last = output.read()[-2000:].strip()
                if begun is None:  # while a case was made, or at the end of the process
                    case = numbers[min(done, len(numbers) - 1)]
                    begun = {"case": case, "subject": "no case", "program": f"after {done} cases"}
                why = why or f"ended the process with {exit_code}"
                difference = f"{why}\n{last}".strip()
                self._results.put(
                    begun | {"end": self._failed, "difference": difference, "died": True}
                )
                yield begun["case"]

    def _lines(self, report: Any) -> Iterator[bytes | None]:
        """Lines as they come; None, once, when none came within the limit and the child must be killed."""
        rest, killed = b"", False
        with selectors.DefaultSelector() as selector:
            selector.register(report, selectors.EVENT_READ)
            while True:
                if not selector.select(EXIT_SECONDS if killed else self._options.limit):
                    if killed:  # somebody outside the child's tree holds the pipe open
                        return
                    killed = True
                    yield None
                    continue
                more = report.read(1 << 16)
                if not more:
                    return
                *lines, rest = (rest + more).split(b"\n")
                yield from lines
