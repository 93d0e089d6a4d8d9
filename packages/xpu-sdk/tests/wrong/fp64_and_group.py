"""Wrong on an Arc GPU: computes in double precision, and asks for work-groups of 4096."""

import numpy as np
import xpu_runtime as xr

SOURCE = """
#include <xpu/core.h>
XPU_KERNEL(1) mean_step(xpu::global<float> x, long n) {
  long i = xpu::global_id();
  if (i < n) x[i] = (float)((double)x[i] / 3.0000000001);
}
"""
WIDE = "#include <xpu/core.h>\nXPU_KERNEL(1) wide(xpu::global<int> x) { x[xpu::global_id()] = 1; }"

marks = xr.zeros(4096, "i32")
xr.launch(xr.compile(WIDE).kernel("wide"), 4096, 4096, [marks])
values = xr.zeros(4096)
xr.launch(xr.compile(SOURCE).kernel("mean_step"), 4096, 256, [values, np.int64(4096)])
xr.synchronize()
