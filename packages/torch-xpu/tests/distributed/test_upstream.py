"""The tool that runs PyTorch's tests of distributed: a sample of them, and what it does about its reasons."""

import subprocess
import sys
from pathlib import Path

import pytest

TOOL = Path(__file__).parents[2] / "upstream" / "distributed"
PASSES = "test_get_rank"
FAILS = "test_isend"
SAMPLE = [
    "test_all_gather_v_cuda",
    "test_all_reduce_sum_cuda_async",
    "test_all_to_all_single_unequal_split_cuda",
    "test_batch_isend_irecv_self_nccl",
    "test_ddp_grad_div_uneven_inputs",
    "test_send_recv_nccl_torch_profiler",
]


def run(folder, tests, reasons=None, backend="xccl"):
    chosen = " or ".join(f"{name} and not {name}_" for name in tests)
    command = [sys.executable, str(TOOL), "--backend", backend, "--record", str(folder / "record")]
    if reasons is not None:
        (folder / "reasons.toml").write_text(reasons)
        command += ["--reasons", str(folder / "reasons.toml")]
    return subprocess.run(
        [*command, "-k", chosen], capture_output=True, text=True, timeout=500, check=False
    )


@pytest.mark.values
@pytest.mark.parametrize("backend", ["gloo", "xccl"])
def test_sample(tmp_path, backend):
    ended = run(tmp_path, SAMPLE, backend=backend)
    count = f"{len(SAMPLE)} passed, 0 failed, 0 skipped"
    assert ended.stdout.splitlines()[-1] == f"{backend}: {count}; on xpu: {count}", ended.stdout
    assert ended.returncode == 0


@pytest.mark.values
def test_failures_without_a_reason_and_reasons_without_a_failure(tmp_path):
    wrong = f'[[reason]]\ntest = "{PASSES}$"\nreason = "ranks have no number"\n'
    ended = run(tmp_path, [PASSES, FAILS], wrong)
    last = ended.stdout.splitlines()[-4:]
    assert last[:3] == [
        "1  AssertionError: False is not true",
        f"    xccl {FAILS}",
        f"passed, against a reason (ranks have no number): xccl {PASSES}",
    ], ended.stdout
    assert ended.returncode == 1
    # All are recorded now, and the tool's own reasons explain them.
    ended = run(tmp_path, [PASSES, FAILS])
    assert ended.returncode == 0, ended.stdout
