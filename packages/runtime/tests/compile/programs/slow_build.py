"""A kernel that takes seconds to build, and a thread that kills whatever builds it."""

import os
import signal
import threading
import time

from numbered_kernels import helpers, value

import xpu_runtime as xr

# The reading of the source takes seconds; what it becomes, none.
WASTE = """#include <xpu/core.h>
template <int K> constexpr int waste() {
  int s = K;
  for (int i = 0; i < 100000; ++i) s = s * 7 % 31;
  return s;
}
"""
BODY = "".join(f"constexpr int c{k} = waste<{k}>(); y[{k}] = c{k};" for k in range(32))
SOURCE = f"{WASTE}// {time.time()}\nXPU_KERNEL(1) slow(xpu::global<float> y) {{ {BODY} }}"
killed = []


def kill(times, seconds):
    while len(killed) < times:
        time.sleep(seconds)
        for process in set(helpers()) - set(killed):
            os.kill(process, signal.SIGKILL)
            killed.append(process)


def build():
    return xr.compile(SOURCE).kernel("slow")


def build_under_fire(times, seconds=0.5):
    value(0)
    threading.Thread(target=kill, args=(times, seconds), daemon=True).start()
    return build()
