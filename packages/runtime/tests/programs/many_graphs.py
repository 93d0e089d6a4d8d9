"""Threads that build graphs of one kernel, and launch it beside."""

import threading

import numpy as np
from sources import CHAIN

import xpu_runtime as xr

kernel = xr.compile(CHAIN).kernel("chain")
failures = []


def work(seed):
    try:
        stream = xr.Stream()
        with xr.stream(stream):
            for turn in range(15):
                x = xr.from_numpy(np.arange(64, dtype=np.uint32), stream=stream)
                graph = xr.Graph()
                with graph.capture(stream):
                    for k in range(30):
                        xr.launch(kernel, 64, 64, [x, np.uint32(seed * 1000 + k)], stream)
                graph.replay(stream)
                for k in range(30):
                    xr.launch(kernel, 64, 64, [x, np.uint32(seed * 7 + k)], stream)
                expected = np.arange(64, dtype=np.uint32)
                for k in [seed * 1000 + k for k in range(30)] + [seed * 7 + k for k in range(30)]:
                    expected = 3 * expected + np.uint32(k)
                assert (x.numpy(stream) == expected).all(), (seed, turn)
    except BaseException as error:  # noqa: BLE001 -- the main thread reports it
        failures.append(error)


threads = [threading.Thread(target=work, args=(seed,)) for seed in range(4)]
[thread.start() for thread in threads]
[thread.join() for thread in threads]
assert not failures, failures
print(xr.generic_backend())
