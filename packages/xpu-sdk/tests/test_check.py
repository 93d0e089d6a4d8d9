"""``xpu-sdk check`` names the fault in each of three deliberately wrong programs, and passes a right one."""

import json
import shutil
from pathlib import Path

import pytest
from xpu_sdk.stand_ins import isa, spirv, virtual_gpu
from xpu_sdk.stand_ins.products import PRODUCTS

WRONG = Path(__file__).parent / "wrong"

pytestmark = pytest.mark.cpu_device
needs_driver = pytest.mark.skipif(
    not virtual_gpu.DRIVER.exists() or not shutil.which("ocloc"),
    reason=f"needs Intel's GPU driver: {virtual_gpu.INSTALL}",
)

RIGHT = """
import numpy as np
import xpu_runtime as xr
source = "#include <xpu/core.h>\\nXPU_KERNEL(1) twice(xpu::global<float> x) { x[xpu::global_id()] *= 2; }"
x = xr.from_numpy(np.ones(256, np.float32))
xr.launch(xr.compile(source).kernel("twice"), 256, 64, [x])
x.numpy()
"""


@pytest.fixture
def check(xpu_sdk, tmp_path):
    def run(program, *stand_ins):
        done = xpu_sdk("check", *stand_ins, "--json", "faults.json", "--", "python", str(program))
        return done, json.loads((tmp_path / "faults.json").read_text())

    return run


def test_host_code_that_reads_device_memory(check):
    done, faults = check(WRONG / "host_touch.py", "--strict")
    assert done.returncode == 1
    (fault,) = faults
    assert "host code read device memory, byte 0 of allocation #0: 4000 bytes" in fault["what"]
    assert 'host_touch.py", line 9' in fault["detail"]


@needs_driver
@pytest.mark.parametrize("gpu", ["dg2", "pvc"])
def test_a_work_group_over_the_limit(check, gpu):
    done, faults = check(WRONG / "fp64_and_group.py", "--virtual-gpu", gpu)
    assert done.returncode == 1
    (fault,) = faults
    assert fault["what"].startswith('UsageError: kernel "wide": a group of 4096 work-items is over')


@needs_driver
def test_double_precision(check):
    done, faults = check(WRONG / "fp64_and_group.py", "--isa")
    assert done.returncode == 1
    serious = [fault["what"] for fault in faults if fault["serious"]]
    assert serious == [
        "kernel mean_step uses fp64, which dg2 (Arc A-series and Flex) does not have"
    ]


@needs_driver
def test_too_much_local_memory_and_spilled_registers(check):
    done, faults = check(WRONG / "greedy.py", "--isa")
    assert done.returncode == 1
    whats = [fault["what"] for fault in faults if fault["stand_in"] == "isa dg2"]
    assert "kernel big_tile needs 160000 bytes of local memory; a work-group has 65536" in whats
    assert any(what.startswith("kernel hoarder keeps 1600 bytes in memory") for what in whats)


@needs_driver
def test_local_memory_that_was_sized_for_another_device(check, tmp_path):
    source = (WRONG / "greedy.py").read_text()
    sized = "#define XPU_SIZED_FOR_DEVICE\n#include <xpu/local.h>"
    (tmp_path / "sized.py").write_text(source.replace("#include <xpu/local.h>", sized))
    done, faults = check(tmp_path / "sized.py", "--isa")
    assert done.returncode == 0, done.stdout
    assert not any("big_tile needs" in fault["what"] for fault in faults)


@needs_driver
def test_a_right_program_has_no_fault(check, tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    done, faults = check(tmp_path / "right.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert faults == []
    assert "0 faults, 0 notes" in done.stdout


def test_a_program_that_fails_by_itself(check, tmp_path):
    (tmp_path / "fails.py").write_text("raise SystemExit(7)")
    done, faults = check(tmp_path / "fails.py", "--strict")
    assert done.returncode == 1
    assert faults[0]["what"] == "the command ended with exit code 7"


def test_a_program_that_does_not_end(check, tmp_path):
    (tmp_path / "hangs.py").write_text("import time; print('now', flush=True); time.sleep(600)")
    done, faults = check(tmp_path / "hangs.py", "--strict", "--timeout", "3")
    assert done.returncode == 1
    assert done.stdout.count("now") == 1
    assert faults[0]["what"] == "the command did not end within 3 s (--timeout) and was killed"


def test_a_compiler_that_does_not_end(monkeypatch, tmp_path):
    compiler = tmp_path / isa.COMPILER
    compiler.write_text("#!/bin/sh\nsleep 600\n")
    compiler.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(isa, "TIMEOUT", 1)
    monkeypatch.setattr(isa.spirv, "read", lambda _: spirv.Facts(("hangs",), False))
    file = tmp_path / "kernel.spv"
    file.write_bytes(b"")
    (built,) = isa.build_batch([(file, PRODUCTS["dg2"])])
    assert built.name == "hangs"
    assert built.error == "ocloc did not end within 1 s"


def test_no_command(xpu_sdk):
    done = xpu_sdk("check", "--strict")
    assert done.returncode == 2
    assert "no command given" in done.stdout


def test_what_is_not_spirv_is_refused():
    with pytest.raises(ValueError, match="not a little-endian SPIR-V module"):
        spirv.read(b"\x00" * 64)
