"""The runtime's act: devices, a kernel compiled from source, oneDNN, memory, a graph."""

from __future__ import annotations

import numpy as np
import xpu_runtime as xr

from . import printing
from .commands.demo import Stage

SOURCE = """
#include <xpu/exp.h>
XPU_KERNEL(1) swish(xpu::global<const float> x, xpu::global<float> y, long n) {
  long i = xpu::global_id();
  if (i < n) y[i] = x[i] / (1.0f + xpu::exp(-x[i]));
}
"""


def run(stage: Stage) -> None:
    """Run each part on the first device."""
    for device in xr.devices():
        stage.say(
            f"{device}: {printing.format_bytes(device.total_memory)}, sub-groups of {device.sub_group_sizes}"
        )
    stage.result("devices", f"{xr.device_count()}, first: {xr.devices()[0].name}")
    elementwise(stage)
    product(stage)
    replay(stage)


def elementwise(stage: Stage) -> None:
    """Compile a kernel from source, and check it against numpy."""
    stage.say("A kernel from source, compiled at run time and cached:" + SOURCE)
    with xr.trace.span("compile"), stage.timed("swish: source to kernel"):
        kernel = xr.compile(SOURCE).kernel("swish")
    x = np.linspace(-8, 8, 1 << 20, dtype=np.float32)
    source, target = xr.from_numpy(x), xr.empty(x.shape)
    with xr.trace.span("swish"):
        xr.launch(kernel, x.size, 256, [source, target, np.int64(x.size)])
    error = np.abs(target.numpy() - x / (1 + np.exp(-x))).max()
    stage.result("swish of 1 M numbers", f"largest error {error:.1e}", error < 1e-5)


def product(stage: Stage) -> None:
    """Multiply matrices in bf16 with bias and relu in one call, and check it against numpy."""
    stage.say("relu(a @ b + bias) in bf16, one oneDNN primitive:")
    rng = np.random.default_rng(0)
    a, b = (rng.standard_normal((512, 512), np.float32) for _ in range(2))
    bias = rng.standard_normal(512, np.float32)
    on_device = [xr.from_numpy(v, "bf16") for v in (a, b, bias.reshape(1, 512))]
    with xr.trace.span("matmul"):
        got = xr.dnn.matmul(
            on_device[0], on_device[1], bias=on_device[2], post_ops=[xr.dnn.PostOp("relu")]
        )
    for line in xr.dnn.explain():
        stage.say(f"  {line}")
    stage.say(xr.memory.summary())
    expected = np.maximum(a @ b + bias, 0)
    error = np.abs(got.numpy() - expected).max() / expected.max()
    stage.result(
        "relu(a @ b + bias), 512^3 bf16", f"largest error {error:.1e} of the largest", error < 0.02
    )


def replay(stage: Stage) -> None:
    """Replay a graph of small launches with one call."""
    source = (
        "#include <xpu/core.h>\nXPU_KERNEL(1) inc(xpu::global<int> x) { x[xpu::global_id()] += 1; }"
    )
    kernel = xr.compile(source).kernel("inc")
    counter = xr.zeros(256, "i32")
    graph = xr.Graph()
    stream = xr.Stream(0)
    with graph.capture(stream):
        for _ in range(100):
            xr.launch(kernel, 256, 256, [counter], stream)
    xr.synchronize()
    with stage.timed("a graph of 100 launches, replayed"):
        graph.replay(stream)
        stream.synchronize()
    counts = set(counter.numpy(stream).tolist())
    right = counts == {100}
    stage.result("its sum", f"{counts.pop()} of 100, by {graph.mode} replay", right)
