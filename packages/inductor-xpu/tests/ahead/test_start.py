"""A process that has compiled nothing loads a package, and may end while its work is queued."""

import os
import subprocess
import sys
from pathlib import Path

import package_case
import pytest
import torch

FOLDER = Path(__file__).parent
# Of the model's loops.
KERNELS = 4


def _run(path, cache, *arguments, program="run_package.py", **variables):
    environment = os.environ | {"XPU_CACHE_DIR": str(cache)} | variables
    return subprocess.run(
        [sys.executable, str(FOLDER / program), str(path), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )


@pytest.mark.values
@pytest.mark.driver_binaries
@torch.no_grad()
def test_a_fresh_process_compiles_no_kernel_of_a_package(packaged, tmp_path):
    path, model = packaged
    done = _run(path, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    seconds, total = map(float, done.stdout.split()[-2:])
    scores, sums = model(*package_case.inputs(16))
    assert total == pytest.approx((scores.sum() + sums.sum()).item(), abs=1e-2)
    assert done.stderr.count("package has it") >= KERNELS
    print(f"the first result took {seconds} s")


def test_a_process_that_ends_with_work_queued_keeps_its_status(packaged, tmp_path):
    done = _run(packaged[0], tmp_path, "exit")
    assert done.returncode == 7, done.stderr[-2000:]


@pytest.mark.values
def test_a_package_runs_on_the_device_for_which_it_was_loaded(packaged, tmp_path):
    done = _run(packaged[0], tmp_path, program="second_device.py", XPU_CPU_DEVICES="2")
    assert done.returncode == 0, done.stderr[-2000:]
    assert "input 0 (words): got a tensor on xpu:0, expected one on xpu:1" in done.stdout
