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
extern "C" __attribute__((sycl_device)) float __imf_erff(float);
XPU_KERNEL(1) other_erf(xpu::global<float> x) {
  x[xpu::global_id()] = __imf_erff(x[xpu::global_id()]);
}
"""


def linking(xr, source, folder):
    """The milliseconds in which the compiler reads and links its libraries, for a source in no cache."""
    file = folder / f"{uuid.uuid4().hex}.json"
    xr.compile(f"{source}\n// {file.stem}\n", [f"-ftime-trace={file}"]).spirv()
    (event,) = (
        event
        for event in json.loads(file.read_text())["traceEvents"]
        if event["name"] == "linkDeviceLibraries"
    )
    return event["dur"] / 1000


def test_it_is_read_if_the_kernel_may_call_it(xr, tmp_path):
    callers = [ERF, "#include <sycl/__spirv/spirv_ops.hpp>\n" + sources.SAXPY]
    without, *with_library = (
        min(linking(xr, source, tmp_path) for _ in range(3)) for source in [sources.SAXPY, *callers]
    )
    assert without < 0.3 * min(with_library)
    assert linking(xr, sources.SAXPY, tmp_path) < 0.7 * min(with_library)


@pytest.mark.values
def test_its_functions_can_be_called_after_other_builds(xr, rng):
    xr.compile(f"{sources.SAXPY}\n// {uuid.uuid4()}\n").kernel("saxpy")
    values = rng.standard_normal(64, np.float32)
    x = xr.from_numpy(values)
    xr.launch(xr.compile(f"{ERF}\n// {uuid.uuid4()}\n").kernel("other_erf"), 64, 64, [x])
    np.testing.assert_allclose(x.numpy(), [math.erf(value) for value in values], rtol=1e-6)
