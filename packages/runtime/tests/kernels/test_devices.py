"""Kernels take memory of their stream's device, and name the argument that is not."""

from pathlib import Path

import pytest

PROGRAM = Path(__file__).parent / "programs" / "arrays_of_another_device.py"


@pytest.mark.cpu_device
@pytest.mark.values
def test_memory_of_another_device_is_refused(child):
    done = child(PROGRAM, env={"XPU_CPU_DEVICES": "2"}).check()
    assert done.out.splitlines() == ["[0.0, 1.0, 2.0, 3.0]"]
