"""A host that is far ahead of its device: every submission is done, in order, wherever the host waits."""

import threading

import numpy as np
import pytest

pytestmark = [pytest.mark.usefixtures("device"), pytest.mark.values]

ADD = """
#include <xpu/core.h>
XPU_KERNEL(1) add(xpu::global<float> x) { x[xpu::global_id()] += 1.0f; }
"""
MANY = 1500  # more than may be pending on a stream


@pytest.fixture
def add(xr):
    """Enqueue the addition of 1 so many times."""
    launch = xr.Launcher(xr.compile(ADD).kernel("add"), "p")

    def add(x, stream, times=MANY):
        for _ in range(times):
            launch(64, 64, x, stream=stream)

    return add


def test_two_threads_on_one_stream(xr, add):
    stream = xr.Stream()
    x = xr.zeros(64, stream=stream)
    threads = [threading.Thread(target=add, args=(x, stream)) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert np.array_equal(x.numpy(stream), np.full(64, 2 * MANY))


def test_a_capture_behind_pending_work(xr, add):
    stream = xr.Stream()
    x = xr.zeros(64, stream=stream)
    add(x, stream)
    graph = xr.Graph()
    with graph.capture(stream):
        add(x, stream)
    add(x, stream, 10)
    graph.replay(stream)
    assert np.array_equal(x.numpy(stream), np.full(64, 2 * MANY + 10))


def test_several_streams_in_turn(xr, add):
    streams = [xr.Stream() for _ in range(3)]
    arrays = [xr.zeros(64, stream=stream) for stream in streams]
    for _ in range(MANY):
        for x, stream in zip(arrays, streams, strict=True):
            add(x, stream, 1)
    for x, stream in zip(arrays, streams, strict=True):
        assert np.array_equal(x.numpy(stream), np.full(64, MANY))
