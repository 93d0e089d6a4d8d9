"""The cores and the memory of a process that measures; call these before a numeric library is loaded."""

from __future__ import annotations

import ctypes
import os

THREADS = 2

# Numbers of glibc's mallopt().
_M_TRIM_THRESHOLD, _M_MMAP_MAX = -1, -4


def use_cores(count: int) -> None:
    """Limit the process, and every library that it loads, to some of its cores."""
    cores = sorted(os.sched_getaffinity(0))[:count]
    os.sched_setaffinity(0, cores)
    for name in ("OMP_NUM_THREADS", "MKL_NUM_THREADS", "OPENBLAS_NUM_THREADS", "DPCPP_CPU_NUM_CUS"):
        os.environ[name] = str(len(cores))


def keep_freed_memory() -> None:
    """Let malloc() keep what is freed, as the pools of devices do: a peer on the host pays no page faults.

    The variables MALLOC_..._ have this effect only where they are set before the process begins.
    """
    mallopt = ctypes.CDLL(None).mallopt
    if not (mallopt(_M_MMAP_MAX, 0) and mallopt(_M_TRIM_THRESHOLD, -1)):
        raise OSError("mallopt() did not accept the settings")
