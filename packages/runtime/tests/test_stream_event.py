"""Streams are ordered, events mark and time points in them."""

import threading

import numpy as np
import pytest
import sources

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture
def slow(xr):
    kernel = xr.compile(sources.SLOW).kernel("slow")
    y = xr.zeros(64)

    def run(stream, rounds=20_000_000):
        xr.launch(kernel, 64, 64, [y, np.int64(rounds)], stream)

    return run


def test_default_stream_is_one_and_is_current(xr):
    assert xr.default_stream() == xr.default_stream() == xr.current_stream()
    assert xr.default_stream().id == 0
    assert len({xr.default_stream(), xr.default_stream()}) == 1


def test_pool_streams_are_bounded_and_have_priorities(xr):
    assert len({xr.Stream() for _ in range(100)}) <= 8
    assert xr.Stream(priority=-1).priority == -1
    with pytest.raises(xr.UsageError, match="expected -1"):
        xr.Stream(priority=5)


def test_current_stream_is_a_threads_own(xr):
    other = xr.Stream()
    seen = []
    with xr.stream(other):
        assert xr.current_stream() == other
        thread = threading.Thread(target=lambda: seen.append(xr.current_stream()))
        thread.start()
        thread.join()
    assert seen == [xr.default_stream()]
    assert xr.current_stream() == xr.default_stream()


@pytest.mark.values
def test_work_is_asynchronous_and_waits_end_it(xr, slow):
    stream = xr.Stream()
    slow(stream)
    event = xr.Event().record(stream)
    if not xr.env.is_set("XPU_STRICT_MEMORY"):
        assert not event.query()
        assert not stream.query()
    event.synchronize()
    assert event.query()
    stream.synchronize()
    assert stream.query()


@pytest.mark.values
def test_a_stream_waits_for_anothers_event(xr):
    module = xr.compile(sources.SLOW + sources.SAXPY.replace("#include <xpu/core.h>", ""))
    first, second = xr.Stream(), xr.Stream()
    x, y = xr.zeros(64, stream=first), xr.zeros(64, stream=first)
    first.synchronize()
    xr.launch(module.kernel("slow"), 64, 64, [x, np.int64(20_000_000)], first)
    second.wait(first)
    xr.launch(module.kernel("saxpy"), 64, 64, [np.float32(1), x, y, np.int64(64)], second)
    np.testing.assert_allclose(y.numpy(second), 2.0)


@pytest.mark.values
def test_events_time_the_device(xr, slow):
    begin, end = xr.Event(timing=True), xr.Event(timing=True)
    stream = xr.Stream()
    slow(stream, 1000)
    begin.record(stream)
    slow(stream)
    end.record(stream)
    end.synchronize()
    long = begin.elapsed_ms(end)
    begin.record(stream)
    slow(stream, 1000)
    end.record(stream)
    end.synchronize()
    assert long > 1
    assert begin.elapsed_ms(end) < long / 2


def test_elapsed_needs_timed_recorded_events(xr):
    with pytest.raises(xr.UsageError, match="created with timing"):
        xr.Event().elapsed_ms(xr.Event())
    with pytest.raises(xr.UsageError, match="must be recorded"):
        xr.Event(timing=True).elapsed_ms(xr.Event(timing=True))


def test_an_event_never_recorded_is_reached(xr):
    event = xr.Event()
    assert event.query()
    event.synchronize()
    event.wait(xr.Stream())


def test_external_queue_is_the_same_stream(xr):
    from xpu_runtime._native import C

    stream = xr.Stream()
    assert C.external_stream(stream.queue_pointer) == stream
