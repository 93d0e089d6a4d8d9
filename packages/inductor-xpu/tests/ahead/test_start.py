"""A process that has compiled nothing loads a package, and may end while its work is queued."""

import os
import subprocess
import sys
from pathlib import Path

import package_case
import pytest
import torch

PROGRAM = Path(__file__).with_name("run_package.py")


def _run(path, cache, *arguments, **variables):
    # No compiler: kernels come from the package.
    environment = os.environ | {"XPU_CACHE_DIR": str(cache), "XPU_LOG": "debug"} | variables
    return subprocess.run(
        [sys.executable, str(PROGRAM), str(path), *arguments],
        capture_output=True,
        text=True,
        env=environment,
        timeout=120,
    )


@pytest.mark.values
@torch.no_grad()
def test_a_fresh_process_compiles_no_kernel_of_a_package(packaged, tmp_path):
    path, model = packaged
    done = _run(path, tmp_path)
    assert done.returncode == 0, done.stderr[-2000:]
    seconds, total = map(float, done.stdout.split()[-2:])
    scores, sums = model(*package_case.inputs(16))
    assert total == pytest.approx((scores.sum() + sums.sum()).item(), abs=1e-2)
    print(f"the first result took {seconds} s")


def test_a_process_that_ends_with_work_queued_keeps_its_status(packaged, tmp_path):
    done = _run(packaged[0], tmp_path, "exit")
    assert done.returncode == 7, done.stderr[-2000:]
