"""Threads that capture one stream: all but one are refused."""

import threading

import numpy as np
from sources import CHAIN

import xpu_runtime as xr

kernel = xr.compile(CHAIN).kernel("chain")
x, stream = xr.from_numpy(np.arange(64, dtype=np.uint32)), xr.Stream()
xr.synchronize()
refusals, captured = [], []


def capture():
    graph = xr.Graph()
    try:
        with graph.capture(stream):
            for k in range(20):
                xr.launch(kernel, 64, 64, [x, np.uint32(k)], stream)
        captured.append(graph)
    except xr.UsageError as error:
        refusals.append(str(error))


for _ in range(30):
    threads = [threading.Thread(target=capture) for _ in range(4)]
    [thread.start() for thread in threads]
    [thread.join() for thread in threads]
assert all("already being" in text for text in refusals), refusals
captured[-1].replay(stream)
stream.synchronize()
print(len(captured), len(refusals))
