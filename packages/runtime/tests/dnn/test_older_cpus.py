"""CPUs with fewer instructions, as oneDNN's variable ONEDNN_MAX_CPU_ISA simulates them."""

import pytest
from xpu_testing import run_child

pytestmark = [pytest.mark.usefixtures("device"), pytest.mark.onednn, pytest.mark.values]

INTEGERS = """
import numpy as np
import xpu_runtime as xr

# Without VNNI, two products of 255 and 127 do not fit the sum of 16 bits.
for k in (64, 1024, 1500):
    for first in (np.int8, np.uint8):
        a = np.full((40, k), np.iinfo(first).max, first)
        b = np.full((k, 48), 127, np.int8)
        a[::3, ::5], b[1::2] = 3, -128
        expected = a.astype(np.int64) @ b.astype(np.int64)
        for dtype in ("i32", "f32"):
            c = xr.empty((40, 48), dtype)
            weights = xr.from_numpy(np.ascontiguousarray(b.T)).transpose()
            xr.dnn.matmul(xr.from_numpy(a), weights, c)
            assert np.array_equal(c.numpy().astype(np.int64), expected), (k, first, dtype)
x, w = np.full((1, 8, 6, 6), 255, np.uint8), np.full((4, 8, 3, 3), 127, np.int8)
y = xr.dnn.convolution(xr.from_numpy(x), xr.from_numpy(w))
assert (y.numpy() == 255 * 127 * 72).all()
"""

FLOATS = """
import numpy as np
import xpu_runtime as xr

rng = np.random.default_rng(0)
a, b = rng.standard_normal((128, 256)), rng.standard_normal((256, 192))
x, w = rng.standard_normal((2, 16, 20, 20)), rng.standard_normal((24, 16, 3, 3))


def result(call, dtype, *values):
    given = [xr.from_numpy(v.astype(np.float32), dtype) for v in values]
    out = xr.empty(call(*(xr.from_numpy(v.astype(np.float32)) for v in values)).shape, "f32")
    xr.kernels.copy(out, call(*given))
    return out.numpy()


for call, values in ((xr.dnn.matmul, (a, b)), (xr.dnn.convolution, (x, w))):
    expected = result(call, "f32", *values)
    for dtype, error in (("bf16", 2e-2), ("f16", 2e-3)):
        got = result(call, dtype, *values)
        assert np.abs(got - expected).max() < error * np.abs(expected).max(), (call, dtype)
"""


@pytest.mark.parametrize("isa", ["AVX2", "AVX512_CORE", "AVX512_CORE_VNNI"])
@pytest.mark.parametrize("code", [INTEGERS, FLOATS], ids=["integers", "floats"])
def test_results_are_right(code, isa):
    run_child(code, env={"ONEDNN_MAX_CPU_ISA": isa}).check()
