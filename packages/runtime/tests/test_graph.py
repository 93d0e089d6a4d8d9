"""Graphs: what was recorded replays, natively or as a list."""

import numpy as np
import pytest
import sources

pytestmark = pytest.mark.usefixtures("device")

REPLAY = """
    import numpy as np
    import xpu_runtime as xr
    kernel = xr.compile({source!r}).kernel("saxpy")
    x, y = xr.from_numpy(np.ones(64, np.float32)), xr.zeros(64)
    graph = xr.Graph()
    with graph.record():
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
    assert out == [mode, "0.0", "20.0"]


@pytest.mark.values
def test_copies_and_fills_replay(xr):
    x, y = xr.from_numpy(np.arange(64, dtype=np.float32)), xr.zeros(64)
    graph = xr.Graph()
    from xpu_runtime._native import C

    stream = xr.current_stream()
    with graph.record():
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
    with graph.record():
        for _ in range(4):
            xr.dnn.matmul(a, b, out=c)
            xr.dnn.matmul(c, b, out=d)
            xr.kernels.copy(a, d)
    graph.replay()
    assert np.all(a.numpy() == 0.5 * 64.0**8)


def test_misuse_is_refused(xr):
    graph = xr.Graph()
    with pytest.raises(xr.UsageError, match="no finished recording"):
        graph.replay()
    with graph.record() as stream:
        assert stream.is_capturing()
        with pytest.raises(xr.UsageError, match="being recorded"):
            stream.synchronize()
        with pytest.raises(xr.UsageError, match="already being recorded"):
            xr.Graph().record().__enter__()
    with pytest.raises(xr.UsageError, match="reset"):
        graph.record().__enter__()
    graph.reset()
    with graph.record():
        pass
    graph.replay()
    xr.synchronize()
