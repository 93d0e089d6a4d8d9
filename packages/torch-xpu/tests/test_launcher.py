"""Tensors as arguments of the runtime's launches."""

from __future__ import annotations

import numpy as np
import pytest
import torch
import xpu_runtime as xr

SOURCE = """
#include <xpu/core.h>
XPU_KERNEL(1) scale(xpu::global<float> y, xpu::global<const float> x, long n, float factor) {
  long i = xpu::global_id();
  if (i < n) y[i] = factor * x[i];
}
"""


@pytest.fixture(scope="module")
def scale():
    torch.empty(0, device="xpu")
    return xr.Launcher(xr.compile(SOURCE).kernel("scale"), "ppi8f4")


@pytest.mark.values
def test_tensors_are_arguments(scale):
    x = torch.arange(64.0, device="xpu")
    y = torch.empty_like(x)
    scale(64, 64, y, x, 64, 2.0)
    assert torch.equal(y.cpu(), 2 * torch.arange(64.0))
    xr.launch(xr.compile(SOURCE).kernel("scale"), 64, 64, [y, x, np.int64(64), np.float32(3)])
    assert torch.equal(y.cpu(), 3 * torch.arange(64.0))


@pytest.mark.values
def test_views_parameters_and_subclasses_are_arguments(scale):
    class Mine(torch.Tensor):
        pass

    whole = torch.zeros(128, device="xpu")
    x = torch.nn.Parameter(torch.ones(64, device="xpu"))
    scale(64, 64, whole[64:].as_subclass(Mine), x, 64, 5.0)
    assert torch.equal(whole.cpu(), torch.cat([torch.zeros(64), torch.full((64,), 5.0)]))


@pytest.mark.values
def test_streams_of_pytorch(scale):
    import torch_xpu

    x, stream = torch.ones(64, device="xpu"), torch.xpu.Stream()
    y = torch.zeros_like(x)
    stream.wait_stream(torch.xpu.current_stream())
    with torch.xpu.stream(stream):
        scale(64, 64, y, x, 64, 2.0)
        raw = torch._C._xpu_getCurrentRawStream(0)
    scale(64, 64, y, y, 64, 2.0, stream=torch_xpu.to_runtime_stream(stream))
    scale(64, 64, y, y, 64, 2.0, stream=raw)
    torch.xpu.current_stream().wait_stream(stream)
    assert torch.equal(y.cpu(), torch.full((64,), 8.0))


def test_a_tensor_without_elements_has_an_address(scale):
    nothing = torch.empty(0, device="xpu")
    scale(0, 64, nothing, nothing, 0, 1.0)
    scale(64, 64, nothing, nothing, 0, 1.0)
    torch.xpu.synchronize()


@pytest.mark.parametrize("where", ["cpu", "meta"])
def test_tensors_of_other_devices_are_refused(scale, where):
    x = torch.ones(64, device="xpu")
    with pytest.raises(xr.UsageError, match='"scale": argument 1 is a tensor of the host'):
        scale(64, 64, x, torch.ones(64, device=where), 64, 1.0)


def test_a_tensor_without_memory_is_refused(scale):
    with torch._subclasses.FakeTensorMode():
        fake = torch.ones(64, device="xpu")
    with pytest.raises(RuntimeError, match=r"no memory|not have|data_ptr"):
        scale(64, 64, fake, fake, 64, 1.0)


@pytest.mark.values
def test_a_captured_launch_replays(scale):
    x = torch.ones(64, device="xpu")
    y = torch.zeros_like(x)
    graph = torch.xpu.XPUGraph()
    with torch.xpu.graph(graph):
        scale(64, 64, y, x, 64, 2.0)
    x.fill_(4)
    graph.replay()
    assert torch.equal(y.cpu(), torch.full((64,), 8.0))
