"""Callers submit to a stream's own SYCL queue, and its work and theirs keep their order."""

import ctypes
import os
import random
import signal
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import numpy as np
import pytest
import sources

pytestmark = [pytest.mark.usefixtures("device"), pytest.mark.values]


@pytest.fixture(scope="module")
def extension():
    native_library = pytest.importorskip("xpu_bench").native_library
    library = native_library(Path(__file__).parent / "callers_queue.cpp", ("sycl",), ("-O1",))
    address, number = ctypes.c_void_p, ctypes.c_uint32
    library.host_task.argtypes = [address, address, number, ctypes.c_int]
    library.copies.argtypes = [address, address, address]
    library.failing_task.argtypes = library.has_external_event.argtypes = [address]
    library.make_queue.argtypes, library.make_queue.restype = [address], address
    return library


class Sequence:
    """A stream with one number, and what the number must be when all queued so far has run."""

    def __init__(self, xr, extension, stream, seed):
        self.xr, self.extension, self.stream = xr, extension, stream
        self.queue, self.random, self.expected = stream.queue_pointer, random.Random(seed), 1
        with xr.stream(stream):
            self.x = xr.from_numpy(np.ones(1, np.uint32))
            self.spare, self.other = xr.zeros(1, "u32"), xr.zeros(1, "u32")
        self.kernel = xr.compile(sources.CHAIN).kernel("chain")

    def add(self):
        k = self.random.randrange(100)
        self.expected = (3 * self.expected + k) % 2**32
        return k

    def launch(self):
        for _ in range(self.random.choice([1, 1, 5])):
            self.xr.launch(self.kernel, 1, 1, [self.x, np.uint32(self.add())], self.stream)

    def host_task(self):
        milliseconds = self.random.choice([0, 1, 3])
        self.extension.host_task(self.queue, self.x.pointer, self.add(), milliseconds)

    def copies(self):
        self.extension.copies(self.queue, self.x.pointer, self.spare.pointer)

    def pause(self):
        self.stream.synchronize()

    def query(self):
        if self.stream.query():
            self.read()

    def event(self):
        """Another stream that waits for an event here sees all that came before it."""
        from xpu_runtime._native import C

        event, side = self.xr.Event(), self.xr.Stream()
        event.record(self.stream)
        event.wait(side)
        C.copy(side, self.other.pointer, self.x.pointer, 4)
        assert self.other.numpy(side)[0] == self.expected

    def graph(self):
        graph, k = self.xr.Graph(), self.random.randrange(100)
        with graph.capture(self.stream):
            self.xr.launch(self.kernel, 1, 1, [self.x, np.uint32(k)], self.stream)
        for _ in range(2):
            graph.replay(self.stream)
            self.expected = (3 * self.expected + k) % 2**32

    def read(self):
        assert self.x.numpy(self.stream)[0] == self.expected


def steps_of(xr):
    steps = ["launch", "launch", "copies", "pause", "query", "event"]
    if xr.devices()[0].type == "cpu":  # where host tasks can change the device's memory
        steps += ["host_task", "host_task"]
    # SYCL fails to enqueue a graph of its own behind a host task; lists of launches are replayed elsewhere.
    return steps if xr.generic_backend() else [*steps, "graph"]


pytestmark.append(
    pytest.mark.skipif(
        os.environ.get("XPU_STRICT_MEMORY") == "1",
        reason="strict memory is open for the runtime's own submissions only",
    )
)
needs_host_tasks = pytest.mark.cpu_device


@pytest.mark.parametrize("how", ["plain", "external", "traced"])
@pytest.mark.parametrize("seed", range(8))
def test_work_of_callers_and_of_the_stream_keeps_its_order(xr, extension, seed, how):
    from xpu_runtime._native import C

    stream = xr.Stream()
    if how == "external":
        stream = C.external_stream(extension.make_queue(stream.queue_pointer))
    sequence = Sequence(xr, extension, stream, seed)
    steps = steps_of(xr)
    if how == "traced":
        xr.trace.start()
    try:
        for _ in range(60):
            getattr(sequence, sequence.random.choice(steps))()
        sequence.read()
    finally:
        if how == "traced":
            xr.trace.stop()


@needs_host_tasks
def test_callers_submit_from_another_thread(xr, extension):
    sequence = Sequence(xr, extension, xr.Stream(), 0)
    with ThreadPoolExecutor(1) as ours, ThreadPoolExecutor(1) as theirs:
        for _ in range(40):
            theirs.submit(sequence.host_task).result()
            ours.submit(sequence.launch).result()
    sequence.read()


@needs_host_tasks
def test_a_wait_keeps_launches_fast(xr, extension):
    """A wait through SYCL takes the external event away that tells that no caller has submitted anything."""
    if xr.generic_backend():
        pytest.skip("all work goes through SYCL")
    sequence = Sequence(xr, extension, xr.Stream(), 0)
    for _ in range(3):
        sequence.launch()
        assert extension.has_external_event(sequence.queue)
        sequence.stream.synchronize()
        assert extension.has_external_event(sequence.queue)
    extension.copies(sequence.queue, sequence.x.pointer, sequence.spare.pointer)
    sequence.read()


@needs_host_tasks
@pytest.mark.parametrize("times", [1, 2])
def test_failures_of_callers_reach_the_wait(xr, extension, times):
    sequence = Sequence(xr, extension, xr.Stream(), 0)
    for _ in range(times):
        sequence.launch()
        extension.failing_task(sequence.queue)
        with pytest.raises(RuntimeError, match="on purpose"):
            sequence.stream.synchronize()
    sequence.launch()
    sequence.read()


ENDINGS = {
    "ends": "",
    "raises": "raise SystemExit(3)",
    "is interrupted": "os.kill(os.getpid(), signal.SIGINT); stream.synchronize()",
    "forks": "sys.exit(os.waitstatus_to_exitcode(os.waitpid(os.fork() or os._exit(0), 0)[1]))",
}
STATUSES = {"ends": 0, "raises": 3, "is interrupted": -signal.SIGINT, "forks": 0}


@needs_host_tasks
@pytest.mark.parametrize("ending", ENDINGS)
def test_the_process_ends_with_work_of_callers_queued(xr, child, extension, ending):
    done = child(
        f"""
        import ctypes, os, signal, sys
        import numpy as np
        import xpu_runtime as xr

        library = ctypes.CDLL({extension._name!r})
        address = ctypes.c_void_p
        library.host_task.argtypes = [address, address, ctypes.c_uint32, ctypes.c_int]
        stream = xr.Stream()
        x = xr.zeros(1, "u32", stream=stream)
        kernel = xr.compile({sources.CHAIN!r}).kernel("chain")
        for _ in range(5):
            library.host_task(stream.queue_pointer, x.pointer, 1, 100)
            xr.launch(kernel, 1, 1, [x, np.uint32(1)], stream)
        del x
        {ENDINGS[ending]}
        """,
        timeout=60,
    )
    assert done.exit_code == STATUSES[ending], done


def test_a_handle_finds_its_stream(xr):
    stream = xr.Stream()
    assert xr.stream_of_handle(stream.handle) == stream
    assert xr.stream_of_handle(xr.default_stream().handle) == xr.default_stream()
    assert stream.handle == stream.queue_pointer


@pytest.mark.parametrize("change", [1, 8, -8, 2**40])
def test_a_made_up_handle_is_refused(xr, change):
    with pytest.raises(xr.UsageError, match="no device has a stream with handle"):
        xr.stream_of_handle(xr.default_stream().handle + change)


def test_handle_zero_is_refused(xr):
    with pytest.raises(xr.UsageError, match="no device has a stream with handle 0"):
        xr.stream_of_handle(0)


def test_more_streams_than_a_chunk_holds(xr, extension):
    """Queues of callers are never forgotten, so that there may be many."""
    from xpu_runtime._native import C

    queue = xr.default_stream().queue_pointer
    made = [extension.make_queue(queue) for _ in range(150)]
    streams = [C.external_stream(pointer) for pointer in made]
    assert len({stream.id for stream in streams}) == 150
    assert [xr.stream_of_handle(s.handle) for s in streams] == streams
    assert [C.external_stream(pointer) for pointer in made] == streams
