"""One trace of everything, that Chrome's viewer can load."""

import json
from pathlib import Path

import numpy as np
import pytest
import sources

TESTS = str(Path(__file__).parent)  # of the module `sources`
PROGRAMS = Path(TESTS) / "programs"

pytestmark = pytest.mark.usefixtures("device")


def run(xr):
    kernel = xr.compile(sources.SAXPY).kernel("saxpy")
    with xr.trace.span("phase"):
        y = xr.from_numpy(np.ones(64, np.float32))
        xr.launch(kernel, 64, 64, [np.float32(2), y, y, np.int64(64)])
        y.numpy()
        del y


def test_records_have_times_and_kinds(xr):
    xr.trace.start()
    run(xr)
    records = xr.trace.stop()
    kinds = [r.kind.name for r in records]
    assert {"kernel", "copy", "span", "allocate", "free"} <= set(kinds)
    kernel = next(r for r in records if r.kind.name == "kernel")
    assert kernel.name == "saxpy"
    assert kernel.host_begin <= kernel.host_end
    assert 0 < kernel.device_begin <= kernel.device_end
    assert len({r.correlation for r in records}) == len(records)
    allocate = next(r for r in records if r.kind.name == "allocate")
    assert allocate.counter >= allocate.bytes >= 256


@pytest.mark.values
def test_device_times_are_on_the_hosts_clock(xr):
    xr.trace.start()
    run(xr)
    kernel = next(r for r in xr.trace.stop() if r.kind.name == "kernel")
    assert abs(kernel.device_begin - kernel.host_begin) < 100e6


def test_chrome_file_loads(xr, tmp_path):
    path = tmp_path / "run.json"
    with xr.trace.record(path):
        run(xr)
    events = json.loads(path.read_text())["traceEvents"]
    assert {"X", "C", "s", "f"} <= {e["ph"] for e in events}
    starts = {e["id"] for e in events if e["ph"] == "s"}
    assert starts == {e["id"] for e in events if e["ph"] == "f"}
    assert all(e["dur"] >= 0 for e in events if e["ph"] == "X")
    assert any(e["ph"] == "C" and e["args"]["bytes"] > 0 for e in events)


def test_start_and_stop_pair(xr):
    with pytest.raises(xr.UsageError, match="no trace"):
        xr.trace.stop()
    xr.trace.start()
    with pytest.raises(xr.UsageError, match="already"):
        xr.trace.start()
    assert xr.trace.active()
    assert xr.trace.stop() == []


def test_streams_work_after_a_trace(xr):
    stream = xr.Stream()
    xr.trace.start()
    xr.trace.stop()
    run(xr)
    stream.synchronize()


@pytest.mark.values
def test_streams_made_while_tracing_take_device_times(child):
    code = f"""
    import numpy as np, xpu_runtime as xr
    xr.trace.start()
    kernel, y = xr.compile({sources.SAXPY!r}).kernel("saxpy"), xr.zeros(64)
    xr.launch(kernel, 64, 64, [np.float32(1), y, y, np.int64(64)], stream=xr.Stream())
    print([r.device_end > 0 for r in xr.trace.stop() if r.kind.name in ("kernel", "fill")])
    """
    assert child(code).check().out.split("\n")[0] == "[True, True]"


@pytest.mark.values
def test_replays_of_graphs_captured_before_have_device_times(xr):
    kernel, y = xr.compile(sources.SAXPY).kernel("saxpy"), xr.zeros(64)
    graph = xr.Graph()
    with graph.capture():
        xr.launch(kernel, 64, 64, [np.float32(1), y, y, np.int64(64)])
    graph.replay()
    xr.trace.start()
    graph.replay()
    (replay,) = xr.trace.stop()
    assert 0 < replay.device_begin <= replay.device_end
    graph.replay()
    xr.synchronize()


@pytest.mark.values
@pytest.mark.onednn_matmul
def test_onednn_calls_have_device_times(xr):
    a = xr.zeros((64, 64))
    xr.dnn.matmul(a, a)
    xr.synchronize()  # what is traced runs behind what is pending
    xr.trace.start()
    with xr.dnn.only_candidate("onednn"):
        xr.dnn.matmul(a, a)
    call = next(r for r in xr.trace.stop() if r.name.startswith("onednn"))
    assert 0 < call.device_begin <= call.device_end
    assert abs(call.device_begin - call.host_begin) < 100e6


def test_capturing_a_graph_while_tracing(xr):
    kernel = xr.compile(sources.SAXPY).kernel("saxpy")
    y = xr.zeros(64)
    xr.trace.start()
    graph = xr.Graph()
    with graph.capture():
        xr.launch(kernel, 64, 64, [np.float32(2), y, y, np.int64(64)])
    graph.replay()
    kinds = [r.kind.name for r in xr.trace.stop()]
    # A native graph replays as one piece of work, a list as its launches; the capture times neither.
    assert [kind for kind in kinds if kind in ("graph", "kernel")] == [
        "graph" if graph.mode == "native" else "kernel"
    ]


@pytest.mark.values
def test_a_trace_is_switched_while_another_thread_queues(child):
    child(PROGRAMS / "switched_trace.py", env={"PYTHONPATH": TESTS}).check()


@pytest.mark.values
@pytest.mark.parametrize("act", ["switch_trace", "get_queue", "query"])
def test_a_list_of_launches_is_replayed_meanwhile(child, act):
    """The replay holds its stream back while it enqueues: who waits for the stream must not stop it."""
    env = {"PYTHONPATH": TESTS}
    child(PROGRAMS / "replayed_list.py", env=env, timeout=60, arguments=[act]).check()


@pytest.mark.values
def test_work_of_a_stream_whose_queue_others_hold_has_device_times(xr):
    kernel, y, stream = xr.compile(sources.SLOW).kernel("slow"), xr.zeros(64), xr.Stream()
    xr.synchronize()
    pointer = stream.queue_pointer
    xr.trace.start()
    for _ in range(2):
        xr.launch(kernel, 64, 64, [y, np.int64(1_000_000)], stream)
    assert stream.queue_pointer == pointer
    first, second = (r for r in xr.trace.stop() if r.kind.name == "kernel")
    assert 0 < first.device_begin < first.device_end <= second.device_begin < second.device_end
    assert first.device_end - first.device_begin > 100_000  # some milliseconds
