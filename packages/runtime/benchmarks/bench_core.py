"""The runtime's own costs: import, start, compile, launch, replay, trace."""

from __future__ import annotations

import ctypes
import itertools
import os
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from pathlib import Path

from runtime_library import runtime_library
from xpu_bench import Case, Pair

SAXPY = """
#include <xpu/core.h>
#include <xpu/exp.h>
XPU_KERNEL(1) saxpy(float a, xpu::global<const float> x, xpu::global<float> y, long n) {
  long i = xpu::global_id();
  if (i < n) y[i] = a * xpu::exp(x[i]) + y[i];
}
"""

FIRST = f"""
import numpy as np
import xpu_runtime as xr
kernel = xr.compile({SAXPY!r}).kernel("saxpy")
x = xr.from_numpy(np.ones(64, np.float32))
xr.launch(kernel, 64, 64, [np.float32(2), x, x, np.int64(64)])
x.numpy()
"""

CHILD_SECONDS = 120
_serial = itertools.count()


def timed_child(code: str, cache: str) -> float:
    """Seconds from starting a Python to its end."""
    begin = time.perf_counter()
    process = subprocess.Popen(
        [sys.executable, "-c", code], env={**os.environ, "XPU_CACHE_DIR": cache}
    )
    # A wait with a timeout of its own would look only every 50 ms.
    timer = threading.Timer(CHILD_SECONDS, process.kill)
    timer.start()
    try:
        status = process.wait()
        seconds = time.perf_counter() - begin
    finally:
        timer.cancel()
        process.kill()
    if status:
        raise subprocess.CalledProcessError(status, process.args)
    return seconds


def import_time() -> float:
    code = (
        "import time; t = time.perf_counter(); import xpu_runtime; print(time.perf_counter() - t)"
    )
    command = [sys.executable, "-c", code]
    ran = subprocess.run(command, check=True, timeout=CHILD_SECONDS, capture_output=True)
    return float(ran.stdout)


def first_result(warm: bool) -> Pair:
    folder = tempfile.mkdtemp()
    fresh = (f"{folder}/{i}" for i in itertools.count())
    return Pair(
        ours=lambda: timed_child(FIRST, f"{folder}/warm" if warm else next(fresh)), self_timed=True
    )


def compile_cold() -> Pair:
    import xpu_runtime as xr

    def build() -> float:
        # A new comment makes it new source to every cache.
        source = SAXPY + f"// {os.getpid()} {next(_serial)}\n"
        begin = time.perf_counter()
        xr.compile(source).kernel("saxpy")
        return time.perf_counter() - begin

    return Pair(ours=build, self_timed=True)


def cache_hit(native: bool) -> Pair:
    """Each sample is a process of its own, warmed by another kernel: one once built stays in memory."""
    folder = tempfile.mkdtemp()
    code = f"""
import time
import xpu_runtime as xr
xr.compile({SAXPY!r}.replace("a * ", "a - ")).kernel("saxpy")
begin = time.perf_counter()
xr.compile({SAXPY!r}).kernel("saxpy")
print(time.perf_counter() - begin)
"""

    def child() -> float:
        if not native:
            for path in Path(folder).glob("**/*.bin"):
                path.unlink()
        out = subprocess.run(
            [sys.executable, "-c", code],
            check=True,
            timeout=CHILD_SECONDS,
            capture_output=True,
            env={**os.environ, "XPU_CACHE_DIR": f"{folder}/kernels"},
        ).stdout
        return float(out)

    child()
    return Pair(ours=child, self_timed=True)


def launch_library() -> ctypes.CDLL:
    return runtime_library(
        "launch_cost.cpp",
        ("launch_ours", "launch_exposed", "launch_bare", "replay_ours"),
        ("sycl",),
    )


def launch() -> Pair:
    native = launch_library()
    return Pair(ours=native.launch_ours, peer=native.launch_bare, self_timed=True, inner=20)


def launch_exposed() -> Pair:
    """Launch on a stream whose SYCL queue a caller has, beside one whose queue nobody has."""
    native = launch_library()
    return Pair(ours=native.launch_exposed, peer=native.launch_ours, self_timed=True, inner=20)


def launcher(arguments: int) -> Pair:
    """100 launches of a kernel from Python; the peer is as many from C++ and a microsecond for each."""
    import xpu_runtime as xr

    pointers = arguments - 2
    parameters = ", ".join(f"xpu::global<float> p{i}" for i in range(pointers))
    total = " + ".join(f"p{i}[i]" for i in range(1, pointers))
    source = (
        "#include <xpu/core.h>\n"
        f"XPU_KERNEL(1) add_all({parameters}, long n, float factor) {{\n"
        "  long i = xpu::global_id();\n"
        f"  if (i < n) p0[i] = factor * ({total});\n"
        "}\n"
    )
    native = runtime_library("argument_cost.cpp", ("run_launches",))
    number = native.make_launches(source.encode(), pointers)
    launch = xr.Launcher(xr.compile(source).kernel("add_all"), "p" * pointers + "i8f4")
    arrays = [xr.zeros(64) for _ in range(pointers)]
    handle = xr.default_stream().handle

    def ours() -> float:
        xr.synchronize()
        begin = time.perf_counter()
        for _ in range(100):
            launch(64, 64, *arrays, 64, 1.0, stream=handle)
        taken = time.perf_counter() - begin
        xr.synchronize()
        return taken

    return Pair(
        ours=ours,
        peer=lambda: native.run_launches(number) + 100e-6,
        self_timed=True,
        inner=20,
    )


def replay() -> Pair:
    native = launch_library()
    return Pair(ours=native.replay_ours, peer=native.launch_ours, self_timed=True, inner=20)


def trace(on: bool) -> Pair:
    """A mixed run: copies, allocations and kernels of 4 MB, with and without what is measured."""
    import numpy as np

    import xpu_runtime as xr

    kernel = xr.compile(SAXPY).kernel("saxpy")
    host = np.ones(1 << 20, np.float32)

    def run() -> float:
        begin = time.perf_counter()
        for _ in range(20):
            x = xr.from_numpy(host)
            y = xr.zeros(host.size)
            for _ in range(10):
                xr.launch(kernel, host.size, 256, [np.float32(2), x, y, np.int64(host.size)])
            y.numpy()
        return time.perf_counter() - begin

    def traced() -> float:
        if not on:
            return run()
        xr.trace.start()
        taken = run()
        xr.trace.stop()
        return taken

    return Pair(ours=traced, peer=run, self_timed=True)


def cases() -> Iterator[Case]:
    yield Case("import", lambda: Pair(ours=import_time, self_timed=True), bar="<= 0.10 s")
    yield Case("first result, warm", lambda: first_result(True), bar="<= 0.5 s")
    yield Case("first result, empty caches", lambda: first_result(False), bar="<= 0.9 s")
    yield Case("compile, cold", compile_cold, bar="<= 0.15 s")
    yield Case("compile, SPIR-V hit", lambda: cache_hit(False), bar="<= 50 ms")
    yield Case("compile, native hit", lambda: cache_hit(True), bar="<= 3 ms")
    yield Case("launch", launch, peer_name="bare SYCL submit", bar="<= 1.15")
    yield Case("launch, shared queue", launch_exposed, peer_name="launch", bar="<= 1.05")
    for arguments in (6, 60):
        yield Case(
            f"launcher, {arguments} arguments",
            lambda arguments=arguments: launcher(arguments),  # type: ignore[misc]
            peer_name="launch + 1 us",
            bar="<= 1.0",
        )
    yield Case("replay of 100", replay, peer_name="100 launches", bar="<= 0.6")
    yield Case("trace on", lambda: trace(True), peer_name="trace off", bar="<= 1.05")
