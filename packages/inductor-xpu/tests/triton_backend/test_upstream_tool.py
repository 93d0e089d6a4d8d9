"""The tool that runs Triton's own tests: device, outcomes by cause, tests that end the process."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "upstream" / "triton"
# The shape of Triton's files.
CONFTEST = """
import pytest

def pytest_addoption(parser):
    parser.addoption("--device", action="store", default="cuda")

@pytest.fixture
def device(request):
    return request.config.getoption("--device")
"""
TESTS = """
import os
import pytest
import torch
import triton
import triton.language as tl
from triton._internal_testing import default_alloc_fn, is_cuda, is_xpu

@pytest.mark.parametrize("size", [16, 64])
def test_double(size, device):
    @triton.jit
    def kernel(x, SIZE: tl.constexpr):
        at = tl.arange(0, SIZE)
        tl.store(x + at, tl.load(x + at) * 2)

    x = torch.arange(size, device=device)
    kernel[(1,)](x, SIZE=size, num_warps=4)
    assert x.tolist() == list(range(0, 2 * size, 2))

def test_target():
    assert is_xpu() and not is_cuda()
    assert default_alloc_fn(4, 1, None).device.type == "xpu"

def test_first():
    raise ValueError("no kernel for 3 dimensions")

def test_second():
    raise ValueError("no kernel for 4 dimensions")

def test_third():
    os._exit(7)

def test_without():
    pytest.skip("no reason")
"""


def run(folder):
    command = [sys.executable, str(TOOL), str(folder), "--record", str(folder / "record.jsonl")]
    return subprocess.run(command, capture_output=True, text=True, timeout=200, check=False)


@pytest.mark.values
def test_outcomes_by_cause(tmp_path):
    folder = tmp_path / "unit" / "language"
    folder.mkdir(parents=True)
    (tmp_path / "conftest.py").write_text(CONFTEST)
    (folder / "test_core.py").write_text(TESTS)
    for _ in range(2):  # the second time all are known
        said = run(tmp_path).stdout.splitlines()[-5:]
        assert said == [
            "2  ValueError: no kernel for N dimensions",
            "    test_first, test_second",
            "1  ends the process with status N",
            "    test_third",
            "3 passed, 3 failed, 1 skipped",
        ]


def test_a_folder_without_tests(tmp_path):
    ended = run(tmp_path)
    assert ended.returncode == 2
    assert "give the folder `python/test` of Triton's sources" in ended.stderr
