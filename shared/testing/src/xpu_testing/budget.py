"""A time for a whole suite: what does not fit is left out, evenly over the files, and counted."""

from __future__ import annotations

import time

import pytest

from .choice import rank

ROUNDS = 16


class Budget:
    """Runs the tests in rounds, each with a sixteenth of every file, until the time is over."""

    def __init__(self, seconds: float, choice: str) -> None:
        # Another text than the sample's, whose tests would otherwise be in few rounds.
        self._seconds, self._choice, self._begin = seconds, f"{choice} round", 0.0
        self._left_out = 0

    @pytest.hookimpl(trylast=True)
    def pytest_collection_modifyitems(self, items: list[pytest.Item]) -> None:
        """Order the tests by round; within a round they keep their order."""
        items.sort(key=lambda item: rank(item.nodeid, self._choice) % ROUNDS)
        self._begin = time.monotonic()

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtest_protocol(self) -> bool | None:
        """Leave the test out when the time is over: True says that it has been handled."""
        if time.monotonic() - self._begin < self._seconds:
            return None
        self._left_out += 1
        return True

    def pytest_terminal_summary(self, terminalreporter: pytest.TerminalReporter) -> None:
        """Say how many tests did not run."""
        if self._left_out:
            terminalreporter.write_line(
                f"{self._left_out} tests left out: the {self._seconds:.0f} seconds of --budget were over"
            )
