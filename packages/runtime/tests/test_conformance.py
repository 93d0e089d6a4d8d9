"""The runtime's own Python face under the tests that every framework's must pass."""

from __future__ import annotations

import numpy as np
import pytest
import sources
from xpu_testing.conformance import MemoryConformance, StreamConformance


class Runtime:
    """xpu_runtime as a Framework."""

    def __init__(self, xr):
        self.xr = xr
        self.out_of_memory = xr.OutOfMemory
        self.default_stream, self.current_stream = xr.default_stream, xr.current_stream
        self.stream, self.use = xr.Stream, xr.stream
        self.stats, self.set_limit = xr.memory.stats, xr.memory.set_limit
        self.empty_cache = xr.memory.empty_cache

    def event(self):
        return self.xr.Event(timing=True)

    def elapsed(self, begin, end):
        return begin.elapsed_ms(end)

    def wait(self, stream, event):
        event.wait(stream)

    def query(self, stream):
        return stream.query()

    def synchronize(self, stream):
        stream.synchronize()

    def array(self, nbytes):
        return self.xr.empty((nbytes,), "u8")

    def pointer(self, array):
        return array.pointer

    def keep_busy(self, stream, rounds):
        kernel = self.xr.compile(sources.SLOW).kernel("slow")
        y = self.xr.zeros(64, stream=stream)
        self.xr.launch(kernel, 64, 64, [y, np.int64(rounds)], stream)

    def fill(self, array, byte, stream):
        with self.xr.stream(stream):
            self.xr.kernels.fill(array, byte)

    def read(self, array):
        return array.numpy().tobytes()


@pytest.fixture
def api(xr, device):
    return Runtime(xr)


class TestStreams(StreamConformance):
    pass


class TestMemory(MemoryConformance):
    pass
