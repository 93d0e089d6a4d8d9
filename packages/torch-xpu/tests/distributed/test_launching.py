"""torchrun on a machine without a GPU: every local rank has a part of the CPU."""

import json
import os
from pathlib import Path

import pytest
from torchrun import TORCHRUN, launch
from xpu_testing.documentation import blocks

pytestmark = pytest.mark.values

PAGE = Path(__file__).resolve().parents[4] / "docs" / "distributed.md"


def test_each_rank_has_a_device_with_a_part_of_the_cores(tmp_path):
    launch(TORCHRUN, "launched.py", str(tmp_path))
    first, second = (json.loads((tmp_path / f"{rank}.json").read_text()) for rank in range(2))
    assert first["devices"] == second["devices"] == 2
    assert first["sum"] == second["sum"] == [3] * 4
    assert first["units"] == second["units"] == max(1, os.cpu_count() // 2)


def test_first_program_of_the_documentation(tmp_path):
    program = tmp_path / "hello.py"
    program.write_text(blocks(PAGE, "python"))
    # Both ranks write at once, and PyTorch 2.15 lets them write word by word.
    words = launch(TORCHRUN, str(program)).split()
    assert sorted(words) == sorted(["0", "1", *("[1.0,", "1.0,", "1.0,", "1.0]") * 2])
