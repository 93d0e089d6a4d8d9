"""Ctrl-C: heard soon, and never in the midst of an operation."""

import os

import pytest
import xpu_runtime
from xpu_testing import run_child

pytestmark = pytest.mark.skipif(
    os.environ.get("XPU_STRICT_MEMORY") == "1",
    reason="strict mode waits for every launch, and hears nothing meanwhile",
)

WAITING = """
    import os, signal, threading, time
    import torch
    x = torch.rand(512, 512, device="xpu")
    def work(times):
        for _ in range(times):
            torch.mm(x, x)
    work(2)
    torch.xpu.synchronize()
    begin = time.time()
    work(50)
    torch.xpu.synchronize()
    some = max(1100, int(50 * 6 / (time.time() - begin)))  # about six seconds of work
    threading.Timer(0.7, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.time()
    try:
        {wait}
    except KeyboardInterrupt:
        print("interrupted", time.time() - begin)
    os._exit(0)
"""

WAITS = {
    "enqueuing": "work(4 * some)",
    "device": "work(1100); torch.xpu.synchronize(); work(4 * some)",
    "stream": "work(1100); torch.xpu.current_stream().synchronize(); work(4 * some)",
}


@pytest.mark.values
@pytest.mark.parametrize("wait", WAITS)
def test_is_heard_soon(wait):
    if wait == "enqueuing" and xpu_runtime.generic_backend():
        pytest.skip("such devices take no cores from the host, which then never waits to enqueue")
    out = run_child(WAITING.format(wait=WAITS[wait])).check().out
    assert out.startswith("interrupted"), out
    assert float(out.split()[1]) < 2


BACKWARD = """
    import os, signal, threading, time
    import torch
    matrix, x = torch.rand(640, 640, device="xpu"), torch.rand(9, device="xpu", requires_grad=True)
    def chain(value):
        for _ in range(150):
            value = value.sin()
        return value
    loss = {loss}
    torch.mm(matrix, matrix)
    chain(x).sum().backward()
    torch.xpu.synchronize()
    for _ in range(1100):  # the main thread may have 1,200 pending, and the backward pass has more than 100
        torch.mm(matrix, matrix)
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.time()
    try:
        {backward}
        time.sleep(60)
    except KeyboardInterrupt:
        print("interrupted", time.time() - begin - 0.5)
    os._exit(0)
"""

RECOMPUTED = "torch.utils.checkpoint.checkpoint(chain, x, use_reentrant=False).sum()"
PASSES = {
    "backward": ("chain(x).sum()", "loss.backward()"),
    "gradients": ("chain(x).sum()", "torch.autograd.grad(loss, x)"),
    "recomputed": (RECOMPUTED, "loss.backward()"),
}


@pytest.mark.values
@pytest.mark.parametrize("kind", PASSES)
def test_is_heard_in_a_backward_pass(kind):
    """PyTorch's own thread enqueues the pass, and the main thread waits for that thread."""
    loss, backward = PASSES[kind]
    out = run_child(BACKWARD.format(loss=loss, backward=backward)).check().out
    assert out.startswith("interrupted"), out
    assert float(out.split()[1]) < 1.3


FEW = """
    import os, signal, threading, time
    import torch
    x = torch.rand(4000, 4000, device="xpu", dtype=torch.float64)
    torch.xpu.synchronize()
    threading.Timer(0.5, os.kill, (os.getpid(), signal.SIGINT)).start()
    y = x @ x @ x @ x
    begin = time.time()
    try:
        {wait}
        print("not interrupted")
    except KeyboardInterrupt:
        print("interrupted", time.time() - begin)
    os._exit(0)
"""


@pytest.mark.values
@pytest.mark.fp64
@pytest.mark.parametrize("wait", ["torch.xpu.synchronize()", "y[0, 0].item()", "y.cpu()"])
def test_is_heard_while_few_long_operations_are_waited_for(wait):
    out = run_child(FEW.format(wait=wait)).check().out
    assert out.startswith("interrupted"), out
    assert float(out.split()[1]) < 1.5


BUILDING = """
    import os, signal, threading, time
    import xpu_runtime as xr

    def build(name, body):
        text = f"#include <xpu/core.h>\\nXPU_KERNEL(1) {name}(xpu::global<float> y) {{ {body} }}"
        return xr.compile(text).kernel(name)

    build("quick", "y[0] = 1;")
    threading.Timer(0.3, os.kill, (os.getpid(), signal.SIGINT)).start()
    begin = time.time()
    try:
        build("slow", "".join(f"y[{k}] = __spirv_ocl_tan(y[{k}] * {begin}f);" for k in range(600)))
        print("not interrupted", time.time() - begin)
    except KeyboardInterrupt:
        print("interrupted", time.time() - begin)
    assert build("other", "y[0] = 2;")
    os._exit(0)
"""


@pytest.mark.onednn
def test_is_heard_while_a_kernel_is_built():
    out = run_child(BUILDING).check().out
    assert out.startswith("interrupted"), out
    assert float(out.split()[1]) < 1.3


WHOLE = """
    import os, signal, threading, time
    import torch
    tensors = [torch.zeros(1 << 16, device="xpu") for _ in range(60)]
    heard = 0
    torch._foreach_add_(tensors, 1)
    for turn in range(12):
        threading.Timer(0.05 + 0.01 * turn, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            begin = time.time()
            while time.time() < begin + 2:
                torch._foreach_add_(tensors, 1)
        except KeyboardInterrupt:
            heard += 1
        values = {{t.unique().cpu().item() for t in tensors}}
        assert len(values) == 1, values
    assert heard == 12, heard
"""


@pytest.mark.values
def test_leaves_no_operation_half_done():
    """The operation is finished first, though the host waits for the device in its midst."""
    run_child(WHOLE.format()).check()
