"""The end of a process that used the device."""

from __future__ import annotations

import os
import threading
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

    process.drain_at_exit()
    let_autograd_finish()


def let_autograd_finish() -> None:
    """Give the threads of backward passes the time to let go of their last one.

    They do it after ``backward()`` has returned and need the interpreter for it. Python ends a thread that
    asks for a finalizing interpreter, and C++ ends the process for that.
    """
    if not _autograd_threads():
        return
    time.sleep(0.02)
    if threading.active_count() > 1:
        # The hook of a backward pass that another thread began may be held: its end is not to be waited for.
        os.environ.setdefault("TORCH_AUTOGRAD_SHUTDOWN_WAIT_LIMIT", "0")
