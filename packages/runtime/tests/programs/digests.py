"""Print a digest of what each of many operations computes on some cores."""
# ruff: noqa: E402 -- the number of cores is set first

import hashlib
import os
import sys

cores = int(sys.argv[1])
os.sched_setaffinity(0, sorted(os.sched_getaffinity(0))[:cores])
import numpy as np

import xpu_runtime as xr


def show(what, *arrays):
    h = hashlib.sha256()
    for array in arrays:
        h.update(array.numpy().tobytes())
    print(what, h.hexdigest())


fp64 = xr.devices()[0].fp64
source = xr.Generator(5)
for name in ("uniform", "normal", "exponential", "cauchy", "log_normal"):
    for dtype in ("f32", "bf16") + (("f64",) if fp64 else ()):
        out = xr.empty(100_003, dtype)
        getattr(xr.kernels, name)(out, source=source)
        show(f"{name} {dtype}", out)

rng = np.random.default_rng(0)
for shape in ((3_000_001,), (40_000, 70), (70, 40_000), (3, 1000, 200)):
    x = xr.from_numpy(rng.standard_normal(shape).astype(np.float32))
    for dim in range(len(shape)):
        left = shape[:dim] + shape[dim + 1 :]
        for name, scalars in (
            ("sum", []),
            ("mean", []),
            ("norm2", []),
            ("logsumexp", []),
            ("var", [1.0]),
        ):
            out = xr.empty(left)
            xr.kernels.reduce(name, out, x, dim, scalars)
            show(f"{name} of {shape} by {dim}", out)
        for name in ("cumsum", "cumprod", "logcumsumexp"):
            out = xr.empty(shape)
            getattr(xr.kernels, name)(out, x, dim)
            show(f"{name} of {shape} by {dim}", out)
