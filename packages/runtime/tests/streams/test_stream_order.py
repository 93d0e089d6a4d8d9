"""Work of every kind keeps its order on and between streams.

Kernels, the driver's copies, oneDNN's products and graphs reach a queue by different ways: each must know of
the others.
"""

import time
from concurrent.futures import ThreadPoolExecutor

import numpy as np
import pytest
import sources

pytestmark = [pytest.mark.usefixtures("device"), pytest.mark.values]

SIDE = 32
STEP = """
#include <xpu/core.h>
XPU_KERNEL(1) step(xpu::global<float> x, float k) {
  long i = xpu::global_id();
  float y = 3.0f * x[i] + k;
  x[i] = y - 256.0f * (float)((int)y / 256);
}
XPU_KERNEL(1) take(xpu::global<float> x, xpu::global<const float> other) {
  long i = xpu::global_id();
  float y = x[i] + other[i];
  x[i] = y >= 256.0f ? y - 256.0f : y;
}
"""


class Lane:
    """A stream with an array, and what the array must hold when all queued so far has run."""

    def __init__(self, xr, rng, turn):
        self.xr, self.stream = xr, xr.Stream()
        self.expected = rng.integers(0, 256, (SIDE, SIDE)).astype(np.float32)
        self.turn_host = turn
        with xr.stream(self.stream):
            self.x, self.spare = xr.from_numpy(self.expected), xr.zeros((SIDE, SIDE))
            self.turn = xr.from_numpy(turn)
        module = xr.compile(STEP)
        self.step, self.take = module.kernel("step"), module.kernel("take")

    def kernel(self, rng):
        k = np.float32(rng.integers(1, 100))
        self.xr.launch(self.step, SIDE * SIDE, SIDE, [self.x, k], self.stream)
        self.expected = (3 * self.expected + k) % 256

    def copy(self, rng):
        from xpu_runtime._native import C

        C.copy(self.stream, self.spare.pointer, self.x.pointer, self.x.nbytes)
        C.fill_bytes(self.stream, self.x.pointer, 0, self.x.nbytes)
        C.copy(self.stream, self.x.pointer, self.spare.pointer, self.x.nbytes)

    def product(self, rng):
        with self.xr.stream(self.stream):
            self.xr.dnn.matmul(self.turn, self.x, out=self.spare)
        self.x, self.spare = self.spare, self.x
        self.expected = self.turn_host @ self.expected

    def graph(self, rng):
        k = np.float32(rng.integers(1, 100))
        graph = self.xr.Graph()
        with graph.capture(self.stream):
            for _ in range(3):
                self.xr.launch(self.step, SIDE * SIDE, SIDE, [self.x, k], self.stream)
        graph.replay(self.stream)
        for _ in range(3):
            self.expected = (3 * self.expected + k) % 256

    def read(self, rng):
        event = self.xr.Event()
        event.record(self.stream)
        while rng.random() < 0.5 and not event.query():
            pass
        event.synchronize()
        assert event.query()
        assert np.array_equal(self.x.numpy(self.stream), self.expected)
        assert self.stream.query()

    def add(self, other):
        """The other's array is read here after its work, and written there after this."""
        ready, done = self.xr.Event(), self.xr.Event()
        ready.record(other.stream)
        ready.wait(self.stream)
        self.xr.launch(self.take, SIDE * SIDE, SIDE, [self.x, other.x], self.stream)
        done.record(self.stream)
        done.wait(other.stream)
        self.expected = (self.expected + other.expected) % 256


def mixed(xr, seed, steps, count, exposed=False):
    rng = np.random.default_rng(seed)
    turn = np.eye(SIDE, dtype=np.float32)[rng.permutation(SIDE)]
    lanes = [Lane(xr, rng, turn) for _ in range(count)]
    assert not exposed or lanes[0].stream.queue_pointer
    for _ in range(steps):
        lane, other = rng.choice(len(lanes), 2, replace=False)
        what = rng.choice(
            ["kernel", "copy", "product", "read", "graph", "add"],
            p=[0.35, 0.15, 0.15, 0.05, 0.05, 0.25],
        )
        lanes[lane].add(lanes[other]) if what == "add" else getattr(lanes[lane], what)(rng)
    for lane in lanes:
        lane.read(rng)


@pytest.mark.parametrize("seed", range(3))
@pytest.mark.parametrize("how", ["plain", "traced", "exposed"])
def test_mixed_work_keeps_its_order(xr, how, seed):
    """Also under a trace, and beside a stream whose queue others may use: its kernels go through SYCL."""
    if how == "traced":
        xr.trace.start()
    try:
        mixed(xr, seed, 150, count=3, exposed=how == "exposed")
    finally:
        if how == "traced":
            xr.trace.stop()


def test_mixed_work_of_several_threads_keeps_its_order(xr):
    with ThreadPoolExecutor(3) as pool:
        list(pool.map(lambda seed: mixed(xr, seed, 100, count=2), range(10, 13)))


def test_a_stream_long_done_is_known_to_be(xr):
    """Without anybody having waited for it."""
    kernel = xr.compile(sources.CHAIN).kernel("chain")
    stream = xr.Stream()
    x = xr.zeros(64, "u32", stream=stream)
    stream.synchronize()
    xr.launch(kernel, 64, 64, [x, np.uint32(1)], stream)
    end = time.monotonic() + 30
    while not stream.query():
        assert time.monotonic() < end
        time.sleep(0.01)


def test_work_through_the_streams_own_queue_is_waited_for(xr):
    """Who asks for the queue may put work there that is not counted: an event comes after it all the same."""
    kernel = xr.compile(sources.SLOW).kernel("slow")
    x, stream, before, after = xr.zeros(64), xr.Stream(), xr.Event(), xr.Event()
    xr.synchronize()
    xr.launch(kernel, 64, 64, [x, np.int64(1000)], stream)
    before.record(stream)
    assert stream.queue_pointer
    xr.launch(kernel, 64, 64, [x, np.int64(1_000_000)], stream)
    after.record(stream)
    after.synchronize()
    assert before.query()
    assert stream.query()
