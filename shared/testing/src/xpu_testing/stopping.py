"""Ctrl-C and SIGTERM raise an exception in the main thread, so that a stopped run can still report."""

from __future__ import annotations

import signal
from collections.abc import Iterator, Mapping
from contextlib import contextmanager


class Stopped(BaseException):
    """Raised by SIGINT or SIGTERM."""

    def __init__(self, number: int) -> None:
        super().__init__(f"stopped by {signal.Signals(number).name}")
        self.exit_code = 128 + number


@contextmanager
def stoppable() -> Iterator[None]:
    """Raise Stopped at the first signal; later ones are ignored, so that they do not cut the report."""

    def stop(number: int, _: object) -> None:
        for each in (signal.SIGINT, signal.SIGTERM):
            signal.signal(each, signal.SIG_IGN)
        raise Stopped(number)

    before = {each: signal.signal(each, stop) for each in (signal.SIGINT, signal.SIGTERM)}
    try:
        yield
    except Stopped:
        raise  # keep ignoring signals during the report
    except BaseException:
        _restore(before)
        raise
    else:
        _restore(before)


def _restore(handlers: Mapping[signal.Signals, object]) -> None:
    for each, handler in handlers.items():
        signal.signal(each, handler)  # type: ignore[arg-type]
