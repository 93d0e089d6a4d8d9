"""Streams and events, beyond what test_conformance.py shows."""

import os
import resource
import threading
import time

import numpy as np
import pytest
import sources

pytestmark = pytest.mark.usefixtures("device")

# Strict mode waits for every launch.
NOTHING_IS_QUEUED = os.environ.get("XPU_STRICT_MEMORY") == "1"


def test_default_stream_is_one_and_is_current(xr):
    assert xr.default_stream() == xr.default_stream() == xr.current_stream()
    assert xr.default_stream().id == 0
    assert len({xr.default_stream(), xr.default_stream()}) == 1


def test_pool_streams_are_bounded_and_have_priorities(xr):
    assert len({xr.Stream() for _ in range(100)}) <= 32
    assert xr.Stream(priority=-1).priority == -1
    with pytest.raises(xr.UsageError, match="expected -1"):
        xr.Stream(priority=5)


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


def test_elapsed_needs_timed_recorded_events(xr):
    with pytest.raises(xr.UsageError, match="created with timing"):
        xr.Event().elapsed_ms(xr.Event())
    with pytest.raises(xr.UsageError, match="must be recorded"):
        xr.Event(timing=True).elapsed_ms(xr.Event(timing=True))


def test_external_queue_is_the_same_stream(xr):
    from xpu_runtime._native import C

    stream = xr.Stream()
    assert C.external_stream(stream.queue_pointer) == stream


@pytest.mark.cpu_device
@pytest.mark.values
def test_the_host_stays_within_reach_of_the_device(xr):
    """Some hundred small launches behind a long one do not block; more do, and are done all the same."""
    kernel = xr.compile(sources.SLOW).kernel("slow")
    x, stream = xr.zeros(64), xr.Stream()
    xr.synchronize()

    def launch(times, rounds=1):
        for _ in range(times):
            xr.launch(kernel, 64, 64, [x, np.int64(rounds)], stream)

    def queue_hundreds():
        launch(1, 400_000_000)
        event.record(stream)
        launch(700)
        assert NOTHING_IS_QUEUED or not event.query()

    event = xr.Event()
    queue_hundreds()
    event.record(stream)
    event.synchronize()
    queue_hundreds()
    launch(1000)
    assert event.query()
    assert np.allclose(x.numpy(stream), 2.0)


@pytest.mark.cpu_device
@pytest.mark.values
def test_an_event_is_waited_for_alone(xr):
    """Also where waiting for the whole queue would be quicker: what comes after it may go on."""
    kernel = xr.compile(sources.SLOW).kernel("slow")
    x, stream = xr.zeros(64), xr.Stream()
    xr.synchronize()
    event = xr.Event()
    xr.launch(kernel, 64, 64, [x, np.int64(5_000_000)], stream)
    event.record(stream)
    xr.launch(kernel, 64, 64, [x, np.int64(50_000_000)], stream)
    event.synchronize()
    assert NOTHING_IS_QUEUED or not stream.query()
    stream.synchronize()


@pytest.mark.values
@pytest.mark.parametrize("how", ["plain", "traced", "exposed"])
def test_an_event_comes_after_a_product_that_follows_a_fill(xr, how):
    """The driver's fill has an event that SYCL knows; the product goes to the queue below SYCL."""
    from xpu_runtime._native import C

    stream = xr.Stream()
    with xr.stream(stream):
        a = xr.from_numpy(np.ones((1024, 1024), np.float32))
        out = xr.empty((1024, 1024))
        xr.dnn.matmul(a, a, out=out)
        stream.synchronize()
        if how == "traced":
            xr.trace.start()
        assert how != "exposed" or stream.queue_pointer
        event = xr.Event()
        C.fill_pattern(stream, out.pointer, np.float32(7).tobytes(), out.size)
        for _ in range(8):
            xr.dnn.matmul(a, a, out=out)
        event.record()
        assert NOTHING_IS_QUEUED or not event.query()
        event.synchronize()
        if how == "traced":
            xr.trace.stop()
        assert stream.query()
        assert np.all(out.numpy() == 1024)


@pytest.mark.cpu_device
def test_a_host_that_waits_for_the_last_event_computes_along(xr):
    """One core of two would be idle otherwise: the processor's time is as long as for a stream."""
    kernel = xr.compile(sources.SLOW).kernel("slow")
    x, stream = xr.zeros(1024), xr.Stream()

    def busy(wait):
        xr.synchronize()
        own = time.thread_time()
        for _ in range(4):
            xr.launch(kernel, 1024, 1, [x, np.int64(100_000)], stream)
            event = xr.Event()
            event.record(stream)
            wait(event)
        return time.thread_time() - own

    assert busy(lambda event: event.synchronize()) > 0.2 * busy(lambda _: stream.synchronize())


@pytest.mark.cpu_device
@pytest.mark.skipif(NOTHING_IS_QUEUED, reason="strict mode waits for every launch")
def test_a_host_that_waits_for_much_does_not_keep_asking(xr):
    """It looks at signals now and then; each time it wakes it takes a core from the work."""
    if xr.generic_backend():
        pytest.skip("only where there is a queue of OpenCL's below SYCL's")
    kernel = xr.compile(sources.SLOW).kernel("slow")
    # Not one of the pool: the queues of some are exposed by now, and later tests would be given others.
    x, stream = xr.zeros(1024), xr.default_stream()
    xr.synchronize()
    for _ in range(20):
        xr.launch(kernel, 1024, 1, [x, np.int64(100_000)], stream)
    begin, before = time.monotonic(), resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    stream.synchronize()
    waited, woken = time.monotonic() - begin, resource.getrusage(resource.RUSAGE_THREAD).ru_nvcsw
    assert waited > 0.2
    assert woken - before < 20 + 50 * waited


@pytest.mark.cpu_device
@pytest.mark.skipif(NOTHING_IS_QUEUED, reason="strict mode waits for every launch")
def test_all_cores_compute_while_a_host_sleeps(xr):
    """A thread takes the place of the host, which is told of an event in the midst of a stream."""
    if xr.generic_backend():
        pytest.skip("only where there is a queue of OpenCL's below SYCL's")
    kernel = xr.compile(sources.SLOW).kernel("slow")
    x, stream, event = xr.zeros(1024), xr.Stream(), xr.Event()

    def cores(wait):
        """How many were busy meanwhile."""
        xr.synchronize()
        for number in range(8):
            xr.launch(kernel, 1024, 1, [x, np.int64(100_000)], stream)
            if number == 6:
                event.record(stream)
        wall, own = time.perf_counter(), time.process_time()
        wait()
        return (time.process_time() - own) / (time.perf_counter() - wall)

    along = max(cores(stream.synchronize) for _ in range(3))
    # Other programs may have the second core at times.
    assert any(cores(event.synchronize) > 0.75 * along for _ in range(20))


def test_a_host_that_waits_while_another_queues(xr):
    x, stream = xr.zeros(1024), xr.Stream()
    stop = threading.Event()

    def queue():
        event = xr.Event()
        while not stop.is_set():
            xr.kernels.fill(x, 1.0, stream)
            event.record(stream)

    thread = threading.Thread(target=queue)
    thread.start()
    for _ in range(1000):
        stream.synchronize()
        stream.query()
    stop.set()
    thread.join()


@pytest.mark.cpu_device
@pytest.mark.values
def test_hosts_that_wait_at_once(xr):
    """Of one stream, in its midst and for its end, while another goes on enqueuing."""
    kernel = xr.compile(sources.SLOW).kernel("slow")
    x, streams = xr.zeros(64), [xr.Stream(), xr.Stream()]
    xr.synchronize()
    wrong = []

    def wait(stream, event):
        event.synchronize()
        if not event.query():
            wrong.append("an event was not reached")
        stream.synchronize()

    waiting = []
    for number in range(40):
        stream, event = streams[number % 2], xr.Event()
        xr.launch(kernel, 64, 64, [x, np.int64(200_000)], stream)
        event.record(stream)
        waiting.append(threading.Thread(target=wait, args=(stream, event)))
        waiting[-1].start()
    for thread in waiting:
        thread.join(60)
    assert not any(thread.is_alive() for thread in waiting)
    assert not wrong
    assert all(stream.query() for stream in streams)


BUSY = """
    import time
    import numpy as np
    import xpu_runtime as xr
    kernel = xr.compile({source!r}).kernel("slow")
    x, event = xr.zeros(64), xr.Event()
    for wait in (xr.synchronize, xr.current_stream().synchronize, event.synchronize):
        xr.synchronize()
        xr.launch(kernel, 64, 64, [x, np.int64(300_000_000)])
        event.record(xr.current_stream())
        wall, own = time.perf_counter(), time.thread_time()
        wait()
        wall, own = time.perf_counter() - wall, time.thread_time() - own
        assert wall > 0.1, wall
        assert own < 0.3 * wall, (own, wall)
"""


@pytest.mark.values
@pytest.mark.skipif(NOTHING_IS_QUEUED, reason="strict mode waits for every launch")
def test_a_host_that_waits_for_another_backend_leaves_its_core_alone(child):
    child(BUSY.format(source=sources.SLOW), env={"XPU_GENERIC_BACKEND": "1"}).check()
