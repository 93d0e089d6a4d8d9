"""Replay a graph while another thread does what the argument names."""

import sys
import threading

import numpy as np
from sources import CHAIN

import xpu_runtime as xr

kernel = xr.compile(CHAIN).kernel("chain")
x = xr.from_numpy(np.arange(64, dtype=np.uint32))
graph, stream, replays = xr.Graph(), xr.Stream(), 60
xr.synchronize()
with graph.capture(stream):
    for k in range(100):
        xr.launch(kernel, 64, 64, [x, np.uint32(k)], stream)
ended = threading.Event()


def switch_trace():
    xr.trace.start()
    xr.trace.stop()


ACTS = {
    "switch_trace": switch_trace,
    "get_queue": lambda: stream.queue_pointer,
    "query": stream.query,
}


def replay():
    for _ in range(replays):
        graph.replay(stream)
    ended.set()


thread = threading.Thread(target=replay)
thread.start()
times = 0
while not ended.is_set():
    ACTS[sys.argv[1]]()
    times += 1
thread.join()
expected = np.arange(64, dtype=np.uint32)
for k in list(range(100)) * replays:
    expected = 3 * expected + np.uint32(k)
assert times > 0 and (x.numpy(stream) == expected).all(), times
