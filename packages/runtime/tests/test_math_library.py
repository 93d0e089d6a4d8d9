"""Builds read the compiler's library of math functions only for kernels that may call it."""

import json
import math
import uuid

import numpy as np
import pytest
import sources

pytestmark = pytest.mark.usefixtures("device")

# erf of the compiler's library; ours is xpu::erf.
ERF = """
#include <xpu/core.h>
extern "C" float __imf_erff(float);
XPU_KERNEL(1) other_erf(xpu::global<float> x) {
  x[xpu::global_id()] = __imf_erff(x[xpu::global_id()]);
}
"""


def milliseconds(xr, source, folder):
    """The time of each phase of the compiler, for a source that no cache has."""
    file = folder / f"{uuid.uuid4().hex}.json"
    xr.compile(f"{source}\n// {file.stem}\n", [f"-ftime-trace={file}"]).spirv()
    events = json.loads(file.read_text())["traceEvents"]
    return {event["name"]: event["dur"] / 1000 for event in events if "dur" in event}


def is_read(xr, source, folder):
    """To read the library takes about as long as the rest; without it, linking takes a tenth."""
    times = milliseconds(xr, source, folder)
    return times["linkDeviceLibraries"] > 0.5 * times["compileDeviceCode"]


def test_it_is_read_if_the_kernel_may_call_it(xr, tmp_path):
    assert not is_read(xr, sources.SAXPY, tmp_path)
    assert is_read(xr, ERF, tmp_path)
    assert is_read(xr, "#include <sycl/__spirv/spirv_ops.hpp>\n" + sources.SAXPY, tmp_path)
    assert not is_read(xr, sources.SAXPY, tmp_path)


@pytest.mark.values
def test_its_functions_can_be_called_after_other_builds(xr, rng):
    xr.compile(f"{sources.SAXPY}\n// {uuid.uuid4()}\n").kernel("saxpy")
    values = rng.standard_normal(64, np.float32)
    x = xr.from_numpy(values)
    xr.launch(xr.compile(f"{ERF}\n// {uuid.uuid4()}\n").kernel("other_erf"), 64, 64, [x])
    np.testing.assert_allclose(x.numpy(), [math.erf(value) for value in values], rtol=1e-6)
