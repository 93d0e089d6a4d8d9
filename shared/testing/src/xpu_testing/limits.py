"""A time limit for each test: a test over it fails, or is killed with all that it started."""

from __future__ import annotations

import faulthandler
import json
import os
import signal
import subprocess
import sys
from collections.abc import Generator
from pathlib import Path

import pytest

from . import processes

DEFAULT_SECONDS = 600.0
GRACE_SECONDS = 30.0  # from the exception in a test to the end of the process


class TimeLimits:
    """Tells the watchdog which test runs, and turns its alarm into a failure of the test."""

    def __init__(self, config: pytest.Config) -> None:
        self._seconds = config.getoption("--test-timeout")
        self._what = ""
        # Duplicate stderr before pytest captures it, so that stacks and watchdog messages reach the terminal.
        self._stderr = os.dup(sys.stderr.fileno())
        tree = processes.join_new_tree(os.environ)
        reading, self._watchdog = os.pipe()
        grace = min(GRACE_SECONDS, self._seconds)
        command = [sys.executable, "-E", "-S", str(Path(__file__).with_name("watchdog.py"))]
        self._process = subprocess.Popen(
            [*command, str(os.getpid()), tree, str(grace)],
            stdin=reading,
            stdout=self._stderr,
            stderr=self._stderr,
            start_new_session=True,
        )
        os.close(reading)
        signal.signal(signal.SIGALRM, self._fail)
        # Prints every thread's stack, even if a thread holds the interpreter's lock, then fails the test.
        faulthandler.register(signal.SIGALRM, file=self._stderr, all_threads=True, chain=True)
        self._begin("the collection of the tests", self._seconds)

    @pytest.hookimpl(tryfirst=True)
    def pytest_runtestloop(self) -> None:
        """End the limit of the collection, which began with this object.

        Not at pytest_collection_finish, which is not called if other processes collect (pytest-xdist).
        """
        self._begin("", 0)

    @pytest.hookimpl(wrapper=True, tryfirst=True)
    def pytest_runtest_protocol(self, item: pytest.Item) -> Generator[None, object, object]:
        """Limit the test with its fixtures to its mark's seconds; ``--test-timeout 0`` overrides marks."""
        mark = item.get_closest_marker("timeout")
        seconds = float(mark.args[0]) if mark else self._seconds
        self._begin(item.nodeid, seconds if self._seconds else 0)
        try:
            return (yield)
        finally:
            self._begin("", 0)

    def pytest_enter_pdb(self) -> None:
        """End the limit of the running test: a debugger may stop it for any time."""
        self._begin(self._what, 0)

    def pytest_unconfigure(self) -> None:
        # If the process is pytest's own, its exit has the same limit as a test.
        """Limit the exit of a process that pytest owns; in any other, end the watchdog and wait for it."""
        owns_process = "pytest" in Path(sys.argv[0]).parts[-2:]
        self._begin("", self._seconds if owns_process else 0)
        if not owns_process:
            os.close(self._watchdog)
            self._process.wait()

    def _begin(self, what: str, seconds: float) -> None:
        self._what = what
        line = json.dumps({"what": what, "seconds": seconds}) + "\n"
        os.write(self._watchdog, line.encode())

    def _fail(self, *_: object) -> None:
        if self._what:
            pytest.fail(f"{self._what} takes longer than its limit (--test-timeout, mark timeout)")
