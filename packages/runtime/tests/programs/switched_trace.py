"""Switch a trace on and off while another thread enqueues work."""

import threading

import numpy as np
from sources import CHAIN

import xpu_runtime as xr

kernel = xr.compile(CHAIN).kernel("chain")
steps, ended = 4000, threading.Event()
results = []


def queue():
    stream = xr.Stream()
    with xr.stream(stream):
        x = xr.from_numpy(np.arange(64, dtype=np.uint32), stream=stream)
        for k in range(steps):
            xr.launch(kernel, 64, 64, [x, np.uint32(k)], stream)
        results.append(x.numpy(stream))
    ended.set()


thread = threading.Thread(target=queue)
thread.start()
times = 0
while not ended.is_set():
    xr.trace.start()
    xr.trace.stop()
    times += 1
thread.join()
expected = np.arange(64, dtype=np.uint32)
for k in range(steps):
    expected = 3 * expected + np.uint32(k)
assert times > 0 and (results[0] == expected).all(), times
