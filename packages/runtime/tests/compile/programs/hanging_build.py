"""Builds of new kernels, and one that does not end because the compiler hangs."""

import os
import signal
import time

from helper_processes import helper_processes

import xpu_runtime as xr

CACHE = os.environ["XPU_CACHE_DIR"]


def build(text="", options=()):
    unique = f"#include <xpu/core.h>\n// {text}{time.time()}\n"
    source = unique + "XPU_KERNEL(1) k(xpu::global<int> x) { x[0] = 1; }"
    return xr.compile(source, options).kernel("k")


def wait_until(is_true, seconds=20):
    deadline = time.monotonic() + seconds
    while not is_true():
        assert time.monotonic() < deadline, "waited in vain"
        time.sleep(0.01)


def build_without_end():
    """Build while the compiler hangs: a process that builds is stopped as soon as it is asked."""
    build()
    (helper,) = helper_processes(CACHE)
    os.kill(helper, signal.SIGSTOP)
    print(helper, flush=True)
    return build()
