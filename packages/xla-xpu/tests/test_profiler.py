"""``jax.profiler`` shows what ran on the device, and when."""

import gzip
import json

import jax
import numpy as np
import pytest


def device_events(folder):
    """The events of the device's own plane in the trace that JAX wrote."""
    (path,) = folder.glob("**/*.trace.json.gz")
    events = json.loads(gzip.decompress(path.read_bytes()))["traceEvents"]
    planes = {e["pid"] for e in events if "XPU:0" in str(e.get("args", {}).get("name"))}
    return [e for e in events if e.get("pid") in planes and e.get("ph") == "X"]


@pytest.mark.cpu_device
def test_trace_has_the_device_s_work(xpu, tmp_path):
    f = jax.jit(lambda x: x * 2 + 1)
    x = jax.device_put(np.ones(1 << 20, np.float32), xpu)
    f(x).block_until_ready()
    with jax.profiler.trace(str(tmp_path)):
        for _ in range(3):
            f(x).block_until_ready()
    events = device_events(tmp_path)
    assert len(events) >= 3
    assert all(event["dur"] >= 0 for event in events)


def test_trace_after_trace(xpu, tmp_path):
    for i in range(2):
        with jax.profiler.trace(str(tmp_path / str(i))):
            jax.device_put(np.ones(8, np.float32), xpu).block_until_ready()
        assert list((tmp_path / str(i)).glob("**/*.xplane.pb"))
