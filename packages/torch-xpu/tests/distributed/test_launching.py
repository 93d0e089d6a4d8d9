"""torchrun on a machine without a GPU: every local rank has a part of the CPU."""

import json
import os

import pytest
from torchrun import TORCHRUN, launch
from xpu_testing import run_child

pytestmark = pytest.mark.values


def test_each_rank_has_a_device_with_a_part_of_the_cores(tmp_path):
    launch(TORCHRUN, "launched.py", str(tmp_path))
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    assert first["devices"] == second["devices"] == 2
    assert first["sum"] == second["sum"] == [3] * 4
    assert first["units"] == second["units"] == max(1, os.cpu_count() // 2)


DEVICES = "import os, torch; print(torch.xpu.device_count(), os.environ.get('XPU_CPU_DEVICES'))"


@pytest.mark.parametrize(
    ("variables", "wanted"),
    [
        ({"LOCAL_WORLD_SIZE": "3"}, "3 3"),
        ({"LOCAL_WORLD_SIZE": "3", "XPU_CPU_DEVICES": "2"}, "2 2"),
        ({"LOCAL_WORLD_SIZE": "1"}, "1 None"),
        ({"LOCAL_WORLD_SIZE": "many"}, "1 None"),
        ({}, "1 None"),
    ],
)
def test_the_cpu_is_divided_unless_the_user_has_done_so(variables, wanted):
    unset = {"LOCAL_WORLD_SIZE": None, "XPU_CPU_DEVICES": None}
    assert run_child(DEVICES, env={**unset, **variables}).check().out.split() == wanted.split()
