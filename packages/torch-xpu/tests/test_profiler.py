"""torch.profiler with the device's own times."""

import json

import pytest
import torch
from torch.autograd import DeviceType
from torch.profiler import ProfilerActivity, profile, record_function
from xpu_testing import run_child

BOTH = [ProfilerActivity.CPU, ProfilerActivity.XPU]


def recorded():
    x = torch.ones(256, 256, device="xpu", requires_grad=True)
    with profile(activities=BOTH) as found, record_function("phase"):
        (x @ x).exp().sum().backward()
        x.grad.cpu()
    return found


@pytest.mark.values
def test_table_has_columns_of_the_device():
    found = recorded()
    table = found.key_averages().table(sort_by="self_device_time_total")
    assert "Self XPU" in table
    assert "XPU total" in table
    rows = {row.key: row for row in found.key_averages()}
    assert rows["aten::mm"].device_time_total > 0
    assert rows["aten::exp"].device_time_total > 0
    assert rows["phase"].device_time_total >= rows["aten::exp"].device_time_total
    assert rows["copy"].self_device_time_total > 0


@pytest.mark.values
def test_events_are_of_the_device():
    kernels = [event for event in recorded().events() if event.device_type == DeviceType.XPU]
    assert {event.device_index for event in kernels} == {0}
    assert all(event.time_range.elapsed_us() > 0 for event in kernels)
    assert not any(event.device_type == DeviceType.CUDA for event in recorded().events())


@pytest.mark.values
def test_work_of_the_backward_pass_belongs_to_its_operator():
    rows = {row.key: row for row in recorded().key_averages()}
    assert rows["MmBackward0"].device_time_total > 0


@pytest.mark.values
def test_chrome_trace_joins_host_and_device(tmp_path):
    path = tmp_path / "trace.json"
    recorded().export_chrome_trace(str(path))
    events = json.loads(path.read_text())["traceEvents"]
    kernels = [e for e in events if e.get("cat") == "kernel"]
    launches = {
        e["args"]["correlation"]: e for e in events if e.get("cat") == "xpu_runtime" and "args" in e
    }
    operators = {e["args"]["External id"]: e["name"] for e in events if e.get("cat") == "cpu_op"}
    assert kernels
    for kernel in kernels:
        launch = launches[kernel["args"]["correlation"]]
        assert kernel["ts"] >= launch["ts"]
        assert operators[kernel["args"]["External id"]].startswith("aten::")
    starts = {e["id"] for e in events if e.get("cat") == "ac2g" and e["ph"] == "s"}
    ends = {e["id"] for e in events if e.get("cat") == "ac2g" and e["ph"] == "f"}
    assert ends
    assert ends <= starts


def test_memory_of_the_device():
    with profile(activities=BOTH, profile_memory=True) as found:
        tensor = torch.empty(1 << 20, dtype=torch.uint8, device="xpu")
    assert sum(row.self_device_memory_usage for row in found.key_averages()) == tensor.nbytes


@pytest.mark.filterwarnings("ignore:.*Profiler clears events")
def test_a_schedule_of_steps():
    x, tables = torch.ones(1000, device="xpu"), []
    with profile(
        activities=BOTH,
        schedule=torch.profiler.schedule(wait=1, warmup=1, active=2, repeat=2),
        on_trace_ready=lambda p: tables.append(p.key_averages()),
    ) as found:
        for _ in range(8):
            x.exp()
            found.step()
    counts = [next(row.count for row in table if row.key == "aten::exp") for table in tables]
    assert counts == [2, 2]


def test_profiling_the_host_loads_nothing():
    child = run_child(
        """
import torch, torch_xpu._bridge as bridge
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU]):
    torch.ones(3).exp()
assert not bridge.is_loaded()
"""
    )
    child.check()


@pytest.mark.values
def test_a_device_that_is_first_used_in_the_profile():
    child = run_child(
        """
import torch
from torch.profiler import ProfilerActivity, profile
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as found:
    torch.ones(1000, device="xpu").exp()
    torch.xpu.synchronize()
assert any(row.self_device_time_total > 0 for row in found.key_averages())
"""
    )
    child.check()


@pytest.mark.values
def test_a_profile_ends_although_its_work_has_failed():
    """The fault is raised once the profile is complete, and the process ends as it would without."""
    run_child(
        """
import torch
from torch.profiler import ProfilerActivity, profile
zero = torch.zeros(1, device="xpu")
try:
    with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as found:
        zero.exp()
        torch._assert_async(zero, "must not be empty")
except RuntimeError as error:
    assert "must not be empty" in str(error), error
else:
    raise AssertionError("no fault")
assert any(row.key == "aten::exp" for row in found.key_averages())
with profile(activities=[ProfilerActivity.CPU, ProfilerActivity.XPU]) as found:
    zero.sin()
assert any(row.key == "aten::sin" for row in found.key_averages())
"""
    ).check()
