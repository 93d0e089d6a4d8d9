"""The same seed and the same input give the same bits, whatever number of cores there is."""

import hashlib

import pytest

DIGESTS = """
import hashlib, os
cores = {cores}
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
        show(f"{{name}} {{dtype}}", out)

rng = np.random.default_rng(0)
for shape in ((3_000_001,), (40_000, 70), (70, 40_000), (3, 1000, 200)):
    x = xr.from_numpy(rng.standard_normal(shape).astype(np.float32))
    for dim in range(len(shape)):
        left = shape[:dim] + shape[dim + 1 :]
        for name, scalars in (("sum", []), ("mean", []), ("norm2", []), ("logsumexp", []), ("var", [1.0])):
            out = xr.empty(left)
            xr.kernels.reduce(name, out, x, dim, scalars)
            show(f"{{name}} of {{shape}} by {{dim}}", out)
        for name in ("cumsum", "cumprod", "logcumsumexp"):
            out = xr.empty(shape)
            getattr(xr.kernels, name)(out, x, dim)
            show(f"{{name}} of {{shape}} by {{dim}}", out)
"""


@pytest.mark.values
@pytest.mark.cpu_device
def test_cores_and_runs(child):
    """Random fills, float reductions and scans on one core, on two, and on two again."""
    one, two, again = (
        child(DIGESTS.format(cores=cores)).check().out.splitlines() for cores in (1, 2, 2)
    )
    assert len(one) > 50
    assert all(len(line.split()[-1]) == 2 * hashlib.sha256().digest_size for line in one)
    assert one == two == again
