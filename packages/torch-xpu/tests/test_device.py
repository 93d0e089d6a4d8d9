"""Devices as torch.xpu and torch.accelerator show them."""

import pytest
import torch
import xpu_runtime
from xpu_testing import run_child


def test_count_and_names():
    assert torch.xpu.is_available()
    assert torch.xpu.device_count() == xpu_runtime.device_count()
    assert torch.xpu.get_device_name(0) == xpu_runtime.Device(0).name
    assert torch.accelerator.current_accelerator() == torch.device("xpu")
    assert torch.accelerator.device_count() == torch.xpu.device_count()


def test_properties_come_from_the_driver():
    found, info = torch.xpu.get_device_properties(0), xpu_runtime.Device(0).properties()
    assert found.total_memory == info["total_memory"] > 0
    assert found.has_fp64 == info["fp64"]
    assert list(found.sub_group_sizes) == list(info["sub_group_sizes"])
    assert "has_fp64" in repr(found)
    assert torch.xpu.get_device_capability(0)["max_work_group_size"] == found.max_work_group_size


@pytest.mark.parametrize(
    ("kind", "slices", "expected"), [("gpu", 0, 132), ("gpu", 4, 32), ("cpu", 0, 0)]
)
def test_multiprocessors_of_gpus_without_slices_are_compute_units(
    monkeypatch, kind, slices, expected
):
    """Inductor splits reductions for as many."""
    info = xpu_runtime.Device(0).properties()
    info |= {"type": kind, "slices": slices, "subslices_per_slice": 8, "max_compute_units": 132}
    monkeypatch.setattr(xpu_runtime.Device, "properties", lambda self: info)
    assert torch.xpu.get_device_properties(0).gpu_subslice_count == expected


def test_properties_of_a_device_are_equal():
    first, second = torch.xpu.get_device_properties(0), torch.xpu.get_device_properties(0)
    assert first == second
    assert hash(first) == hash(second)
    assert first != "xpu"


@pytest.mark.parametrize("use", [torch.xpu.set_device, torch.xpu.synchronize])
def test_unknown_device(use):
    with pytest.raises(RuntimeError, match="99"):
        use(99)


def test_unknown_device_before_the_first_use():
    child = run_child(
        """
import torch
try:
    torch.xpu.set_device(99)
except RuntimeError as error:
    assert "xpu:99 is not a device" in str(error), error
else:
    raise SystemExit("no error")
assert torch.ones(1, device="xpu").device.index == 0
"""
    )
    child.check()


def test_unknown_device_of_a_tensor():
    with pytest.raises(RuntimeError, match="xpu:99 is not a device"):
        torch.empty(1, device="xpu:99")


@pytest.mark.cpu_device
def test_two_devices():
    child = run_child(
        """
import torch
assert torch.xpu.device_count() == 2
host = torch.arange(6.0).reshape(2, 3)
a = host.to("xpu:1")
assert a.device == torch.device("xpu", 1)
assert torch.xpu.current_device() == 0
b = a.t().to("xpu:0", torch.int32)
assert b.cpu().tolist() == [[0, 3], [1, 4], [2, 5]]
with torch.xpu.device(1):
    assert torch.empty(1, device="xpu").device.index == 1
    assert torch.xpu.current_stream().device.index == 1
assert torch.xpu.current_device() == 0
assert torch.xpu.can_device_access_peer(0, 1) in (True, False)
""",
        env={"XPU_CPU_DEVICES": "2"},
    )
    child.check()


TWO_DEVICES = """
    import torch, xpu_runtime as xr
    {first}
    with torch.xpu.device(1):
        assert xr.current_device() == torch.xpu.current_device() == 1
        assert torch.accelerator.current_device_index() == 1
        with xr.device(0):
            assert torch.empty(1, device="xpu").device.index == 0
    assert xr.current_device() == 0
    with xr.device(1):
        assert torch.xpu.current_device() == 1
        assert torch.empty(1, device="xpu").device.index == 1
    torch.xpu.set_device(1)
    assert xr.empty(1).device == 1
"""


@pytest.mark.values  # of the CPU, in two parts
@pytest.mark.parametrize(
    "first", ["torch.xpu.init()", "torch.accelerator.set_device_index(0)", "xr.zeros(1)"]
)
def test_the_current_device_is_the_runtimes(first):
    run_child(TWO_DEVICES.format(first=first), env={"XPU_CPU_DEVICES": "2"}).check()
