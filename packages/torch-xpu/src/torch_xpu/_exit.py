"""The end of a process that used the device."""

from __future__ import annotations

import time
from pathlib import Path


def _autograd_threads() -> bool:
    for task in Path("/proc/self/task").iterdir():
        try:
            if (task / "comm").read_text().startswith("pt_autograd"):
                return True
        except OSError:  # a thread that has ended
            continue
    return False


def end() -> None:
    """Wait for the devices, and for the threads of backward passes."""
    from xpu_runtime import process

    process.wait_for_end()
    let_autograd_finish()


def let_autograd_finish() -> None:
    """Give the threads of backward passes the time to let go of their last one.

    They do it after ``backward()`` has returned and need the interpreter for it. Python ends a thread that
    asks for a finalizing interpreter, and C++ ends the process for that.
    """
    if _autograd_threads():
        time.sleep(0.02)
