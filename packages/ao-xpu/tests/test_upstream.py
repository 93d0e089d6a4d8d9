"""The tool that runs torchao's tests: names of CUDA, gates, known reasons, tests that end the process."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[1] / "upstream"
# The shape of torchao's files.
CUDA = """
import os

import pytest
import torch
from torchao.utils import _is_mslk_available, is_sm_at_least_100, torch_version_at_least

DEVICES = ["cpu"] + (["cuda"] if torch.cuda.is_available() else [])


@pytest.mark.parametrize("device", DEVICES)
def test_devices(device):
    assert torch.ones(2, device=device).device.type == device
    assert torch_version_at_least("2.0.0")


@pytest.mark.skipif(not is_sm_at_least_100() or not _is_mslk_available(), reason="other hardware")
def test_gates():
    assert torch.cuda.get_device_capability() >= (8, 9)
    layer = torch.nn.Linear(2, 2).cuda()
    assert layer.weight.is_cuda and str(layer.weight.device) == "cuda:0"


def test_mslk():
    import mslk


def test_value():
    value = torch.full((), 7, device="cuda").item()
    assert value == 8


def test_crash():
    os._exit(7)


@pytest.mark.skip(reason="fails in CI")
def test_skipped():
    pass
"""
XPU = """
import torch

def test_device():
    device = "xpu" if torch.xpu.is_available() else "cuda"
    assert torch.ones(2, device=device).device.type == device


def test_cuda():
    assert not torch.cuda.is_available()
"""


def run(folder, *arguments):
    command = [sys.executable, str(TOOL), str(folder), "--record", str(folder / "record.jsonl")]
    return subprocess.run(
        [*command, *arguments], capture_output=True, text=True, timeout=540, check=False
    )


@pytest.fixture
def folder(tmp_path):
    (tmp_path / "core").mkdir()
    (tmp_path / "test_cuda.py").write_text(CUDA)
    (tmp_path / "core" / "test_xpu.py").write_text(XPU)
    (tmp_path / "core" / "test_broken.py").write_text("import gemlite\n")
    (tmp_path / "test_fsdp.py").write_text("raise AssertionError('needs several devices')\n")
    return tmp_path


def test_outcomes(folder):
    ended = run(folder)
    assert ended.stdout.splitlines()[-10:] == [
        "1 skipped: fails in CI",
        "1 failed, as is known: needs gemlite, whose kernels are Triton's",
        "1 failed, as is known: needs mslk, whose kernels are CUDA's",
        "1  AssertionError: assert value == N",
        "    test_value",
        "1  ends the process with status N",
        "    test_crash",
        "choose xpu: 1 passed, 0 failed, 0 skipped",
        "names replaced: 2 passed, 1 failed, 0 skipped",
        "did not use xpu: 2 passed, 3 failed, 1 skipped",
    ], ended.stdout + ended.stderr
    assert ended.returncode == 1
    assert not list(folder.rglob("*.pyc"))


def test_a_named_file(folder):
    ended = run(folder, "--file", "core/test_xpu.py", "-k", "device")
    assert ended.stdout.splitlines()[-3:] == [
        "choose xpu: 1 passed, 0 failed, 0 skipped",
        "names replaced: 0 passed, 0 failed, 0 skipped",
        "did not use xpu: 0 passed, 0 failed, 0 skipped",
    ]
    assert ended.returncode == 0


def test_folders_without_tests(tmp_path):
    ended = run(tmp_path)
    assert ended.returncode == 2
    assert "give the folder `test` of torchao's sources" in ended.stderr
    ended = run(tmp_path, "--file", "core/test_none.py")
    assert ended.returncode == 2
    assert "core/test_none.py" in ended.stderr
