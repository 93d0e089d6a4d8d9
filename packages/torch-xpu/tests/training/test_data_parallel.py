"""Several devices in one process: torch.nn.DataParallel and what it copies with."""

from pathlib import Path

import pytest
from xpu_testing import run_child

PROGRAMS = Path(__file__).parent / "programs"
TWO_DEVICES = {"XPU_CPU_DEVICES": "2"}


@pytest.mark.values
def test_replicas_train_as_one_module():
    run_child(PROGRAMS / "data_parallel.py", TWO_DEVICES).check()


@pytest.mark.values
def test_copies_over_devices():
    run_child(PROGRAMS / "copies_over_devices.py", TWO_DEVICES).check()
