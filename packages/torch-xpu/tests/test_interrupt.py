"""Ctrl-C while the host waits for much work."""

import pytest
from xpu_testing import run_child

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
    "queueing": "work(4 * some)",
    "device": "work(1100); torch.xpu.synchronize(); work(4 * some)",
    "stream": "work(1100); torch.xpu.current_stream().synchronize(); work(4 * some)",
}


@pytest.mark.values
@pytest.mark.parametrize("wait", WAITS.values(), ids=WAITS)
def test_is_heard_soon(wait):
    out = run_child(WAITING.format(wait=wait)).check().out
    assert out.startswith("interrupted"), out
    assert float(out.split()[1]) < 4
