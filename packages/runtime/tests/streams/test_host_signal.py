"""Streams that wait for the host: other streams, threads and waits go on meanwhile."""

import threading
import time

import pytest

import xpu_runtime as xr
from xpu_runtime._native import C


def test_a_signal_that_is_set_blocks_nothing() -> None:
    signal = C.HostSignal(0)
    signal.set()
    stream = xr.Stream()
    signal.block(stream)
    stream.synchronize()
    assert signal.is_set()


def test_a_blocked_stream_waits_and_the_host_does_not() -> None:
    stream, signal = xr.Stream(), C.HostSignal(0)
    signal.block(stream)
    assert not stream.query()
    event = xr.Event().record(stream)
    threading.Timer(0.2, signal.set).start()
    begin = time.perf_counter()
    event.synchronize()
    assert time.perf_counter() - begin > 0.1
    stream.synchronize()
    assert stream.query()


def test_other_streams_continue_while_threads_wait_for_a_blocked_one() -> None:
    blocked, other, signal = xr.Stream(), xr.Stream(), C.HostSignal(0)
    signal.block(blocked)
    waiting = [
        threading.Thread(target=blocked.synchronize),
        threading.Thread(target=xr.Event().record(blocked).synchronize),
    ]
    for thread in waiting:
        thread.start()
    time.sleep(0.05)
    for _ in range(20):
        first = xr.Event().record(other)
        second = xr.Event().record(other)
        first.synchronize()
        second.synchronize()
    other.synchronize()
    assert all(thread.is_alive() for thread in waiting)
    signal.set()
    for thread in waiting:
        thread.join(10)
        assert not thread.is_alive()


def test_a_signal_that_is_dropped_is_set() -> None:
    stream, signal = xr.Stream(), C.HostSignal(0)
    signal.block(stream)
    del signal
    stream.synchronize()


def test_streams_wait_for_a_blocked_one() -> None:
    blocked, behind, signal = xr.Stream(), xr.Stream(), C.HostSignal(0)
    signal.block(blocked)
    behind.wait(blocked)
    assert not behind.query()
    signal.set()
    behind.synchronize()


def test_a_captured_stream_is_rejected() -> None:
    signal = C.HostSignal(0)
    stream = xr.Stream()
    graph = xr.Graph()
    with xr.stream(stream), graph.capture(), pytest.raises(xr.UsageError, match="captured"):
        signal.block(stream)
