"""A separate process that kills pytest, with all that it started, if a test takes too long.

pytest cannot do that alone: a test may hang in C++ with the interpreter's lock held. Runs as a script,
without site-packages, so that it starts in 20 ms. Its input says what begins, its arguments whom it watches.
"""

from __future__ import annotations

import json
import os
import select
import signal
import sys
import time
from dataclasses import dataclass
from typing import Any

from processes import describe, kill, members  # type: ignore[import-not-found]

POLL_SECONDS = 5.0


@dataclass
class Activity:
    """The test that pytest runs now. `seconds` is its limit; 0: none."""

    what: str
    seconds: float
    began: float
    asked: float | None = None

    def wait_seconds(self, grace: float) -> float | None:
        """Return the time until the next action; None if there is none."""
        if not self.seconds:
            return None
        end = self.began + self.seconds if self.asked is None else self.asked + grace
        return end - time.monotonic()


class Watchdog:
    """Watches a process, which heads a named tree of processes."""

    def __init__(self, root: int, tree: str, grace: float) -> None:
        self._root, self._tree, self._grace = root, tree, grace
        self._activity: Activity | None = None
        self._rest = b""

    def watch(self) -> None:
        """Return when the process has ended, or has been killed."""
        while os.getppid() == self._root:
            left = self._activity.wait_seconds(self._grace) if self._activity else None
            wait = POLL_SECONDS if left is None else min(max(left, 0), POLL_SECONDS)
            if select.select([sys.stdin], [], [], wait)[0]:
                if not self._read():
                    break
            elif left is not None and left <= 0 and not self._enforce():
                return
        while select.select([sys.stdin], [], [], 0)[0] and self._read():
            pass  # it may have ended before this process looked
        if self._activity and self._activity.what:
            self._say("the process of the tests ended in")
            kill(self._tree, 0)  # its pid may belong to another process by now

    def _read(self) -> bool:
        """Read pytest's messages; return False once its process has ended."""
        more = os.read(sys.stdin.fileno(), 1 << 16)
        *lines, self._rest = (self._rest + more).split(b"\n")
        for line in lines:
            said: dict[str, Any] = json.loads(line)
            self._activity = Activity(said["what"], said["seconds"], time.monotonic())
        return bool(more)

    def _enforce(self) -> bool:
        """Ask pytest to fail the test, or kill it where it could not; False when it is killed."""
        assert self._activity
        if self._activity.asked is None:
            self._activity.asked = time.monotonic()
            os.kill(self._root, signal.SIGALRM)
            return True
        self._say("killed with its children, having hung in")
        running = describe(members(self._tree, self._root))
        print(f"running were:\n{running}", file=sys.stderr, flush=True)
        kill(self._tree, self._root)
        return False

    def _say(self, how: str) -> None:
        assert self._activity
        seconds = time.monotonic() - self._activity.began
        what = self._activity.what or "what follows the tests"
        print(f"\nxpu_testing: {how} {what}, after {seconds:.0f} s", file=sys.stderr, flush=True)


if __name__ == "__main__":
    for each in (signal.SIGTERM, signal.SIGINT, signal.SIGHUP):
        signal.signal(each, signal.SIG_IGN)  # it goes when pytest has gone, and says where that was
    Watchdog(int(sys.argv[1]), sys.argv[2], float(sys.argv[3])).watch()
