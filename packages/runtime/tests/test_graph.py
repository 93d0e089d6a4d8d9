"""Graphs: captured work replays, natively or as a list."""

from pathlib import Path

import numpy as np
import pytest
import sources
from xpu_testing import assert_close

TESTS = str(Path(__file__).parent)  # of the module `sources`
PROGRAMS = Path(TESTS) / "programs"

pytestmark = pytest.mark.usefixtures("device")

REPLAY = """
    import numpy as np
    import xpu_runtime as xr
    kernel = xr.compile({source!r}).kernel("saxpy")
    x, y = xr.from_numpy(np.ones(64, np.float32)), xr.zeros(64)
    graph = xr.Graph()
    with graph.capture():
        for _ in range(10):
            xr.launch(kernel, 64, 64, [np.float32(1), x, y, np.int64(64)])
    print(graph.mode)
    assert len(graph) == 10
    before = y.numpy()[0]
    graph.replay()
    graph.replay()
    print(before, y.numpy()[0])
"""


@pytest.mark.values
@pytest.mark.parametrize("mode", ["native", "list"])
def test_replay(child, mode):
    out = child(REPLAY.format(source=sources.SAXPY), env={"XPU_GRAPH": mode}).check().out.split()
    assert out[0] in ("list", mode)  # a CPU device's own are slower than the list
    assert out[1:] == ["0.0", "20.0"]


@pytest.mark.values
def test_streams_that_wait_for_the_captured_one_are_replayed_too(xr):
    kernel = xr.compile(sources.CHAIN).kernel("chain")
    x = xr.from_numpy(np.arange(64, dtype=np.uint32))
    side, fork, join = xr.Stream(), xr.Event(), xr.Event()
    graph = xr.Graph()
    with graph.capture() as stream:
        xr.launch(kernel, 64, 64, [x, np.uint32(1)])
        fork.record(stream)
        fork.wait(side)
        xr.launch(kernel, 64, 64, [x, np.uint32(2)], side)
        join.record(side)
        join.wait(stream)
        xr.launch(kernel, 64, 64, [x, np.uint32(3)])
    graph.replay()
    expected = np.arange(64, dtype=np.uint32)
    for k in (1, 2, 3):
        expected = 3 * expected + np.uint32(k)
    assert_close(x.numpy(), expected)


@pytest.mark.values
def test_copies_and_fills_replay(xr):
    x, y = xr.from_numpy(np.arange(64, dtype=np.float32)), xr.zeros(64)
    graph = xr.Graph()
    from xpu_runtime._native import C

    stream = xr.current_stream()
    with graph.capture():
        C.copy(stream, y.pointer, x.pointer, y.nbytes)
        C.fill_bytes(stream, x.pointer, 0, x.nbytes)
    assert x.numpy()[5] == 5
    graph.replay()
    assert y.numpy()[5] == 5
    assert x.numpy()[5] == 0


@pytest.mark.values
def test_matrix_products_keep_their_place(xr):
    a = xr.from_numpy(np.full((64, 64), 0.5, np.float32))
    b = xr.from_numpy(np.ones((64, 64), np.float32))
    c, d = xr.zeros((64, 64)), xr.zeros((64, 64))
    graph = xr.Graph()
    with graph.capture():
        for _ in range(4):
            xr.dnn.matmul(a, b, out=c)
            xr.dnn.matmul(c, b, out=d)
            xr.kernels.copy(a, d)
    graph.replay()
    assert np.all(a.numpy() == 0.5 * 64.0**8)


# After 1,200 launches the host waits for the device; while it queues a part of a list, the device waits.
@pytest.mark.parametrize("launches", [31, 33, 1300])
@pytest.mark.parametrize("mode", ["native", "list"])
def test_more_launches_than_the_host_runs_ahead(xr, monkeypatch, mode, launches):
    monkeypatch.setenv("XPU_GRAPH", mode)
    kernel = xr.compile(sources.CHAIN).kernel("chain")
    x = xr.from_numpy(np.arange(64, dtype=np.uint32))

    def queue():
        for k in range(launches):
            xr.launch(kernel, 64, 64, [x, np.uint32(k)])

    graph = xr.Graph()
    with graph.capture():
        queue()
    queue()
    for _ in range(5):
        graph.replay()
    queue()
    expected = np.arange(64, dtype=np.uint32)
    for _ in range(7):
        for k in range(launches):
            expected = 3 * expected + np.uint32(k)
    assert_close(x.numpy(), expected)


@pytest.mark.values
def test_products_on_a_stream_that_waits_keep_their_place(xr):
    a, b = (
        xr.from_numpy(np.full((64, 64), 0.5, np.float32)),
        xr.from_numpy(np.ones((64, 64), np.float32)),
    )
    c, side, fork, join = xr.zeros((64, 64)), xr.Stream(), xr.Event(), xr.Event()
    graph = xr.Graph()
    with graph.capture() as stream:
        fork.record(stream)
        fork.wait(side)
        with xr.stream(side):
            xr.dnn.matmul(a, b, out=c)
        join.record(side)
        join.wait(stream)
        xr.kernels.copy(a, c)
    assert not side.is_capturing()
    for _ in range(3):
        graph.replay()
    assert np.all(a.numpy() == 0.5 * 64.0**3)


def test_one_graph_may_not_wait_for_another(xr):
    first, second, other, event = xr.Graph(), xr.Graph(), xr.Stream(), xr.Event()
    with first.capture() as stream, second.capture(other):
        event.record(stream)
        with pytest.raises(xr.UsageError, match="into another"):
            event.wait(other)
    xr.synchronize()


def test_misuse_is_refused(xr):
    graph = xr.Graph()
    with pytest.raises(xr.UsageError, match="nothing to replay"):
        graph.replay()
    with graph.capture() as stream:
        assert stream.is_capturing()
        with pytest.raises(xr.UsageError, match="being captured"):
            stream.synchronize()
        with pytest.raises(xr.UsageError, match="already being captured"):
            xr.Graph().capture().__enter__()
    with pytest.raises(xr.UsageError, match="reset"):
        graph.capture().__enter__()
    graph.reset()
    with graph.capture():
        pass
    graph.replay()
    xr.synchronize()


@pytest.mark.values
def test_out_of_memory_at_the_begin_leaves_the_stream_as_it_was(xr):
    x, y = xr.from_numpy(np.arange(64, dtype=np.float32)), xr.zeros(64)
    xr.synchronize()  # the stream is another than the one that made them
    stream, graph = xr.Stream(), xr.Graph()
    with xr.memory.fail_allocation(1), pytest.raises(xr.OutOfMemory), graph.capture(stream):
        pass
    assert not stream.is_capturing()
    with xr.stream(stream):
        held = xr.empty(1 << 20)
        xr.kernels.copy(y, x)
    assert_close(y.numpy(stream), x.numpy())
    with graph.capture(stream), xr.stream(stream):
        xr.kernels.copy(y, x)
    assert len(graph) == 1
    del held


@pytest.mark.parametrize("mode", ["native", "list"])
def test_a_graph_destroyed_during_its_capture(xr, monkeypatch, mode):
    monkeypatch.setenv("XPU_GRAPH", mode)
    x, y, stream = xr.zeros(64), xr.zeros(64), xr.Stream()
    graph = xr.Graph()
    graph.capture(stream).__enter__()
    with xr.stream(stream):
        xr.kernels.copy(y, x)
    del graph
    stream.synchronize()


@pytest.mark.values
@pytest.mark.parametrize("generic", ["0", "1"])
@pytest.mark.parametrize("mode", ["native", "list"])
def test_threads_that_capture_one_stream_are_refused(child, mode, generic):
    env = {"XPU_GRAPH": mode, "XPU_GENERIC_BACKEND": generic, "PYTHONPATH": TESTS}
    out = child(PROGRAMS / "two_captures.py", env=env, timeout=100).check().out.split()
    assert int(out[0]) + int(out[1]) == 120
    assert int(out[0]) >= 30


@pytest.mark.values
@pytest.mark.parametrize("generic", ["0", "1"])
def test_threads_that_build_graphs_of_one_kernel(child, generic):
    """Each graph, and each launch beside, keeps its own arguments."""
    env = {"XPU_GENERIC_BACKEND": generic, "PYTHONPATH": TESTS}
    child(PROGRAMS / "many_graphs.py", env=env, timeout=100).check()
