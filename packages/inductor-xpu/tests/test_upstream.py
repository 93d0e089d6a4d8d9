"""The tool that runs PyTorch's tests of Inductor: device, outcomes by cause, tests that end the process."""

import subprocess
import sys
from pathlib import Path

TOOL = Path(__file__).parents[1] / "upstream"
# The shape of PyTorch's file.
TESTS = """
import os
import unittest
import torch
from torch.testing._internal.inductor_utils import GPU_TYPE, RUN_CPU, RUN_GPU

if RUN_CPU:
    class CPUTests(unittest.TestCase):
        def test_on_the_cpu(self):
            raise AssertionError

if RUN_GPU:
    class GPUTests(unittest.TestCase):
        def test_device(self):
            assert torch.ones(2, device=GPU_TYPE).device.type == "xpu"

        def test_first(self):
            raise ValueError("no kernel for 3 dimensions")

        def test_second(self):
            raise ValueError("no kernel for 4 dimensions")

        def test_third(self):
            os._exit(7)

        def test_without(self):
            self.skipTest("no reason")
"""


def run(folder):
    command = [sys.executable, str(TOOL), str(folder), "--record", str(folder / "record.jsonl")]
    return subprocess.run(command, capture_output=True, text=True, timeout=120, check=False)


def test_outcomes_by_cause(tmp_path):
    (tmp_path / "inductor").mkdir()
    (tmp_path / "inductor" / "test_torchinductor.py").write_text(TESTS)
    for _ in range(2):  # the second time all are known
        said = run(tmp_path).stdout.splitlines()[-5:]
        assert said == [
            "2  ValueError: no kernel for N dimensions",
            "    test_first, test_second",
            "1  ends the process with status N",
            "    test_third",
            "1 passed, 3 failed, 1 skipped",
        ]


def test_a_folder_without_tests(tmp_path):
    ended = run(tmp_path)
    assert ended.returncode == 2
    assert "give the folder `test` of PyTorch's sources" in ended.stderr
