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


def match_device_memory() -> None:
    """Give the host's memory what pools of devices have: it stays when it is freed, and has huge pages.

    Otherwise a peer on the host would pay for page faults and misses of the TLB, which say nothing of its
    code. The variables MALLOC_... have an effect only where they are set before the process begins.
    """
    os.environ["THP_MEM_ALLOC_ENABLE"] = "1"  # PyTorch's
    mallopt = ctypes.CDLL(None).mallopt
    if not (mallopt(_M_MMAP_MAX, 0) and mallopt(_M_TRIM_THRESHOLD, -1)):
        raise OSError("mallopt() did not accept the settings")
