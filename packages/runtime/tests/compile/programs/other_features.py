"""What a program may do while kernels are built ahead."""

import os

from wanted_kernels import CACHE, want

import xpu_runtime as xr


def fork():
    pid = os.fork()
    if pid == 0:
        try:
            xr.zeros(4)
        except xr.DeviceError:
            os._exit(7)
        os._exit(0)
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 7
    for n in range(8):
        want(n)


def replay_a_graph():
    graph, y = xr.Graph(), xr.zeros((64, 64))
    with graph.capture():
        xr.kernels.fill(y.transpose(), 7)
    graph.replay()
    assert (y.numpy() == 7).all()


def record_a_trace():
    with xr.trace.record(str(CACHE / "trace.json")):
        for n in range(8):
            want(n)
