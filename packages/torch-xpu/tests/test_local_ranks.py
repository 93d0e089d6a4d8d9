"""Devices of ranks that torchrun starts: without a GPU, the CPU is divided by the number of local ranks."""

import os

import pytest
from xpu_testing import run_child

from torch_xpu import _local_ranks

DEVICES = "import os, torch; print(torch.xpu.device_count(), os.environ.get('XPU_CPU_DEVICES'))"
CPU_ONLY = {"ONEAPI_DEVICE_SELECTOR": "opencl:cpu"}
UNSET = {"LOCAL_WORLD_SIZE": None, "XPU_CPU_DEVICES": None}


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({"LOCAL_WORLD_SIZE": "3"}, ["3", "3"]),
        ({"LOCAL_WORLD_SIZE": "3", "XPU_CPU_DEVICES": "2"}, ["2", "2"]),
        ({"LOCAL_WORLD_SIZE": "3", "XPU_CPU_DEVICES": "1"}, ["1", "1"]),
        ({"LOCAL_WORLD_SIZE": "1"}, ["1", "None"]),
        ({"LOCAL_WORLD_SIZE": "many"}, ["1", "None"]),
        ({}, ["1", "None"]),
    ],
)
def test_the_cpu_is_divided_unless_the_user_has_done_so(variables, wanted):
    out = run_child(DEVICES, env={**UNSET, **CPU_ONLY, **variables}).check().out
    assert out.split() == wanted


@pytest.mark.parametrize("selector", [None, "level_zero:gpu", "*:gpu;opencl:cpu"])
def test_nothing_is_divided_where_there_may_be_a_gpu(selector, monkeypatch):
    monkeypatch.setenv("LOCAL_WORLD_SIZE", "2")
    monkeypatch.delenv("XPU_CPU_DEVICES", raising=False)
    monkeypatch.setattr(_local_ranks.glob, "glob", lambda pattern: ["/dev/dri/renderD128"])
    if selector:
        monkeypatch.setenv("ONEAPI_DEVICE_SELECTOR", selector)
    else:
        monkeypatch.delenv("ONEAPI_DEVICE_SELECTOR", raising=False)
    _local_ranks.divide_cpu()
    assert "XPU_CPU_DEVICES" not in os.environ
