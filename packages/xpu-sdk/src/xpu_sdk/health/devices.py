"""Devices, the kernel compiler, and on each device the values of a kernel and a matrix product."""

from __future__ import annotations

import sys
from collections.abc import Iterator

from .. import system_info
from .drivers import INTEL
from .finding import Finding
from .probe import ProbeFailed, run_probe

LIST = """
    import json, xpu_runtime as xr
    print(json.dumps([[d.name, d.backend, d.driver_version, d.is_gpu] for d in xr.devices()]))
"""

KERNEL = """
    import json, time, numpy as np, xpu_runtime as xr
    source = '''
    #include <xpu/core.h>
    XPU_KERNEL(1) doctor(xpu::global<float> out, long n) {
      long i = xpu::global_id();
      if (i < n) out[i] = 2.0f * i + 1.0f;
    }
    '''
    with xr.device(INDEX):
        begin = time.perf_counter()
        kernel = xr.compile(source).kernel("doctor")
        built = time.perf_counter() - begin
        out = xr.zeros(1000)
        xr.launch(kernel, 1024, 256, [out, np.int64(1000)])
        right = bool((out.numpy() == 2 * np.arange(1000, dtype=np.float32) + 1).all())
    print(json.dumps([built, right]))
"""

MATMUL = """
    import json, numpy as np, xpu_runtime as xr
    with xr.device(INDEX):
        a = np.arange(12, dtype=np.float32).reshape(3, 4)
        b = np.ones((4, 5), np.float32)
        got = xr.dnn.matmul(xr.from_numpy(a), xr.from_numpy(b)).numpy()
    print(json.dumps(bool(np.allclose(got, a @ b))))
"""


def check() -> Iterator[Finding]:
    """List the devices, compile a kernel from source, compute on each device."""
    try:
        devices = run_probe(LIST)
    except ProbeFailed as error:
        fix = f"{sys.executable} -m pip install --force-reinstall intel-sycl-rt intel-opencl-rt"
        yield Finding("devices", "fail", f"cannot be listed: {error}", fix)
        return
    if not devices:
        fix = f"unset ONEAPI_DEVICE_SELECTOR; {sys.executable} -m pip install intel-opencl-rt"
        yield Finding("devices", "fail", "none found, not even the CPU", fix)
        return
    for index, (name, backend, driver, _) in enumerate(devices):
        yield Finding(f"xpu:{index}", "ok", f"{name}, {backend}, driver {driver}")
    has_gpu = any(is_gpu for *_, is_gpu in devices)
    if not has_gpu and INTEL in system_info.render_nodes().values():
        fix = "sudo apt-get install intel-opencl-icd (or the driver packages of your distribution)"
        yield Finding("GPU driver", "fail", "an Intel GPU is here, but no driver shows it", fix)
    elif not has_gpu:
        yield Finding("GPU", "note", "none found, the CPU device is used")
    yield _compiler()
    for index in range(len(devices)):
        yield _computes(f"kernel on xpu:{index}", KERNEL.replace("INDEX", str(index)))
        yield _computes(f"matmul on xpu:{index}", MATMUL.replace("INDEX", str(index)))


def _compiler() -> Finding:
    try:
        seconds, _ = run_probe(KERNEL.replace("INDEX", "0"), {"XPU_CACHE_SIZE": "0"})
    except ProbeFailed as error:
        fix = f"{sys.executable} -m pip install --force-reinstall intel-sycl-rt"
        return Finding("compiler", "fail", f"cannot compile a kernel: {error}", fix)
    return Finding("compiler", "ok", f"a kernel from source in {seconds * 1e3:.0f} ms")


def _computes(layer: str, code: str) -> Finding:
    try:
        answer = run_probe(code)
    except ProbeFailed as error:
        fix = "report it with the output of: xpu-sdk info --json"
        return Finding(layer, "fail", f"failed: {error}", fix)
    if answer is True or (isinstance(answer, list) and answer[1]):
        return Finding(layer, "ok", "right values")
    fix = "update the device's driver, then report it with: xpu-sdk info --json"
    return Finding(layer, "fail", "wrong values", fix)
