"""``jax.profiler`` shows what ran on the device, and when."""

import gzip
import json

import jax
import numpy as np
import pytest


def device_events(folder):
    """Return the events of the device in the trace that JAX wrote to ``folder``.

    A plane of the profiler (the device or a group of host threads) is a process of the trace, so that
    ``pid`` tells to which an event belongs. Events of phase ``X`` are those with a duration.
    """
    (path,) = folder.glob("**/*.trace.json.gz")
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    pids = {e["pid"] for e in events if "XPU:0" in str(e.get("args", {}).get("name"))}
    return [e for e in events if e.get("pid") in pids and e.get("ph") == "X"]


@pytest.mark.cpu_device
def test_trace_contains_device_events(xpu, tmp_path):
    f = jax.jit(lambda x: x * 2 + 1)
    x = jax.device_put(np.ones(1 << 20, np.float32), xpu)
    f(x).block_until_ready()
    with jax.profiler.trace(str(tmp_path)):
        for _ in range(3):
            f(x).block_until_ready()
    events = device_events(tmp_path)
    assert len(events) >= 3
    assert all(event["dur"] >= 0 for event in events)


def test_second_trace_is_written_too(xpu, tmp_path):
    for i in range(2):
        with jax.profiler.trace(str(tmp_path / str(i))):
            jax.device_put(np.ones(8, np.float32), xpu).block_until_ready()
        assert list((tmp_path / str(i)).glob("**/*.xplane.pb"))
