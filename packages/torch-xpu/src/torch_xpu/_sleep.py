"""``torch.xpu._sleep``, of PyTorch 2.15: a kernel that takes a number of the device's clock cycles."""

from __future__ import annotations

import functools
from typing import Any

from ._streams import to_runtime_stream

# A multiplication and an addition that wait for the last result take about four cycles.
_CYCLES = 4
_ITEMS = 64
_SOURCE = """
#include <xpu/core.h>

XPU_KERNEL(1) wait(long steps, xpu::global<int> result) {
  unsigned value = xpu::global_id();
  for (long step = 0; step < steps; ++step) value = value * 1664525u + 1013904223u;
  if (xpu::global_id() == 0) result[0] = (int)value;
}
"""


@functools.cache
def _kernel(device: int) -> Any:
    import xpu_runtime

    return xpu_runtime.compile(_SOURCE, device=device).kernel("wait")


def sleep(cycles: int) -> None:
    """Enqueue the kernel on the current stream, and return at once."""
    import numpy as np
    import torch
    import xpu_runtime

    stream = to_runtime_stream(torch.xpu.current_stream())
    result = torch.empty(1, dtype=torch.int32, device="xpu")
    steps = np.int64(max(cycles, 0) // _CYCLES)
    xpu_runtime.launch(_kernel(stream.device), _ITEMS, _ITEMS, [steps, result], stream=stream)
