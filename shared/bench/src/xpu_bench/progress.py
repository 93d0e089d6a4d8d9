"""Progress on stderr: the running case and each row, so that a killed run shows how far it got."""

from __future__ import annotations

import faulthandler
import signal
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from .measure import Row


class Stopped(BaseException):
    """Raised by SIGINT or SIGTERM; the message names the running case."""

    def __init__(self, number: int) -> None:
        self.signal, self.case = signal.Signals(number), ""
        self.exit_code = 128 + number

    def __str__(self) -> str:
        return f"stopped by {self.signal.name}" + (f" in {self.case}" if self.case else "")


@contextmanager
def raising_signals() -> Iterator[None]:
    """Make Ctrl-C and SIGTERM raise Stopped, so that the rows measured so far are still shown."""

    def stop(number: int, _: object) -> None:
        raise Stopped(number)

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    finally:
        for each, handler in before.items():
            signal.signal(each, handler)


@contextmanager
def running(what: str, limit: float, where: str = "") -> Iterator[None]:
    """Print what begins. If it takes longer than `limit` seconds, show all stacks and end the process."""
    print(f"{where}{what}", file=sys.stderr, flush=True)
    # A timer in C: a hanging call may hold the interpreter's lock.
    faulthandler.dump_traceback_later(limit, exit=True, file=2)
    began = time.monotonic()
    try:
        yield
    except Stopped as stopped:
        stopped.case = f"{what}, after {time.monotonic() - began:.0f} s"
        raise
    finally:
        faulthandler.cancel_dump_traceback_later()


class Progress:
    """Progress over the cases of a file. Prints to stderr, since a table of all rows follows on stdout."""

    def __init__(self, file: str, cases: int, limit: float) -> None:
        self._file, self._cases, self._limit = file, cases, limit
        self._began, self._done = time.monotonic(), 0

    @contextmanager
    def of(self, case: str) -> Iterator[None]:
        """Print the case that begins, and how long the rest of the file will take."""
        seconds = time.monotonic() - self._began
        left = seconds / self._done * (self._cases - self._done) if self._done else None
        about = "" if left is None else f", about {left:.0f} s left"
        where = f"{self._file}, {self._done + 1} of {self._cases}{about}: "
        with running(case, self._limit, where):
            yield
        self._done += 1

    def print_row(self, row: Row) -> None:
        """Print a row to stderr as soon as it is measured, without empty cells."""
        from .report import COLUMNS, cells

        texts = zip(COLUMNS[1:], cells(row)[1:], strict=True)
        line = ", ".join(f"{column} {text}" for column, text in texts if text not in ("", "-"))
        print(f"    {line}", file=sys.stderr, flush=True)
