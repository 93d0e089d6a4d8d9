"""Wrong on a GPU: reads device memory from the host, which the CPU device lets pass."""

import ctypes

import xpu_runtime as xr

weights = xr.zeros(1000)
xr.synchronize()
first = ctypes.cast(weights.pointer, ctypes.POINTER(ctypes.c_float))[0]
print("first weight", first)
