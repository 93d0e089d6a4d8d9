"""Wrong on a GPU: 160 KB of local memory in one kernel, an array of 400 floats per work-item in another."""

import numpy as np
import xpu_runtime as xr

BIG_TILE = """
#include <xpu/local.h>
XPU_KERNEL(1) big_tile(xpu::global<float> x) {
  static xpu::Local<float, 40000> tile;
  long i = xpu::global_id();
  tile[(i * 7919) % 40000] = x[i];
  xpu::barrier();
  x[i] = tile[(i * 31) % 40000];
}
"""
SPILLS = """
#include <xpu/core.h>
XPU_KERNEL(1) hoarder(xpu::global<const float> x, xpu::global<float> y, int step) {
  float v[400];
  for (int j = 0; j < 400; j++) v[j] = x[j] * step;
  for (int j = 0; j < 400; j++) v[j] += v[(j * step) % 400];
  float sum = 0;
  for (int j = 0; j < 400; j++) sum += v[j] * v[(j + step) % 400];
  y[xpu::global_id()] = sum;
}
"""

x, y = xr.zeros(400), xr.zeros(400)
xr.launch(xr.compile(BIG_TILE).kernel("big_tile"), 256, 256, [x])
xr.launch(xr.compile(SPILLS).kernel("hoarder"), 256, 64, [x, y, np.int32(7)])
xr.synchronize()
