"""``xpu-sdk check`` names the issue of each of three deliberately wrong programs, and passes a right one."""

import json
import shutil
from pathlib import Path

import pytest
from xpu_sdk.gpu_checks import offline_compile, spirv, virtual_gpu
from xpu_sdk.gpu_checks.products import PRODUCTS

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
    def run(program, *options):
        done = xpu_sdk("check", *options, "--json", "issues.json", "--", "python", str(program))
        return done, json.loads((tmp_path / "issues.json").read_text())

    return run


def test_host_code_that_reads_device_memory(check):
    done, issues = check(WRONG / "host_touch.py", "--strict")
    assert done.returncode == 1
    (issue,) = issues
    assert "host code read device memory, byte 0 of allocation #0: 4000 bytes" in issue["what"]
    assert 'host_touch.py", line 9' in issue["detail"]


@needs_driver
@pytest.mark.parametrize("gpu", ["dg2", "pvc"])
def test_a_work_group_over_the_limit(check, gpu):
    done, issues = check(WRONG / "fp64_and_group.py", "--virtual-gpu", gpu)
    assert done.returncode == 1
    (issue,) = issues
    assert issue["what"].startswith(
        'OutOfResources: kernel "wide": a group of 4096 work-items is over'
    )


@needs_driver
def test_double_precision(check):
    done, issues = check(WRONG / "fp64_and_group.py", "--offline-compile")
    assert done.returncode == 1
    errors = [issue["what"] for issue in issues if issue["is_error"]]
    assert errors == ["kernel mean_step uses fp64, which dg2 (Arc A-series and Flex) does not have"]


@needs_driver
def test_too_much_local_memory_and_spilled_registers(check):
    done, issues = check(WRONG / "greedy.py", "--offline-compile")
    assert done.returncode == 1
    messages = [issue["what"] for issue in issues if issue["check"] == "offline-compile dg2"]
    assert "kernel big_tile needs 160000 bytes of local memory; a work-group has 65536" in messages
    assert any(what.startswith("kernel hoarder keeps 1600 bytes in memory") for what in messages)


@needs_driver
def test_local_memory_that_was_sized_for_another_device(check, tmp_path):
    source = (WRONG / "greedy.py").read_text()
    sized = "#define XPU_SIZED_FOR_DEVICE\n#include <xpu/local.h>"
    (tmp_path / "sized.py").write_text(source.replace("#include <xpu/local.h>", sized))
    done, issues = check(tmp_path / "sized.py", "--offline-compile")
    assert done.returncode == 0, done.stdout
    assert not any("big_tile needs" in issue["what"] for issue in issues)


@needs_driver
def test_sub_group_sizes_that_another_device_does_not_have(check, tmp_path):
    """Sizes of pvc are 16 and 32; the compiler has one message for 8 and another for 64."""
    program = RIGHT.replace("compile(source)", "compile(source, sub_group_size=size)")
    body = program.partition("x = xr")[0] + "for size in (8, 64):\n    x = xr"
    body += program.partition("x = xr")[2].replace("\n", "\n    ")
    (tmp_path / "sizes.py").write_text(body)
    done, issues = check(tmp_path / "sizes.py", "--offline-compile")
    assert done.returncode == 0, done.stdout
    notes = [issue["what"] for issue in issues if issue["check"] == "offline-compile pvc"]
    what = "kernel twice requires a sub-group size that pvc does not have"
    assert {note.partition(" (")[0] for note in notes} == {what}, issues


@needs_driver
def test_a_right_program_has_no_issue(check, tmp_path):
    (tmp_path / "right.py").write_text(RIGHT)
    done, issues = check(tmp_path / "right.py")
    assert done.returncode == 0, done.stdout + done.stderr
    assert issues == []
    assert "0 errors, 0 notes" in done.stdout


def test_a_program_that_fails_by_itself(check, tmp_path):
    (tmp_path / "fails.py").write_text("raise SystemExit(7)")
    done, issues = check(tmp_path / "fails.py", "--strict")
    assert done.returncode == 1
    assert issues[0]["what"] == "the command ended with exit code 7"


def test_a_program_that_does_not_end(check, tmp_path):
    (tmp_path / "hangs.py").write_text("import time; print('now', flush=True); time.sleep(600)")
    done, issues = check(tmp_path / "hangs.py", "--strict", "--timeout", "3")
    assert done.returncode == 1
    assert done.stdout.count("now") == 1
    assert issues[0]["what"] == "the command did not end within 3 s (--timeout) and was killed"


def test_a_compiler_that_does_not_end(monkeypatch, tmp_path):
    compiler = tmp_path / offline_compile.COMPILER
    compiler.write_text("#!/bin/sh\nsleep 600\n")
    compiler.chmod(0o700)
    monkeypatch.setenv("PATH", f"{tmp_path}:/usr/bin:/bin")
    monkeypatch.setattr(offline_compile, "TIMEOUT", 1)
    monkeypatch.setattr(
        offline_compile.spirv, "read_module", lambda _: spirv.ModuleInfo(("hangs",), False)
    )
    file = tmp_path / "kernel.spv"
    file.write_bytes(b"")
    (kernel,) = offline_compile.build_batch([(file, PRODUCTS["dg2"])])
    assert kernel.name == "hangs"
    assert kernel.error == "ocloc did not end within 1 s"


@pytest.mark.parametrize(
    ("arguments", "says"),
    [
        (["--", "no-such-command"], "there is no command 'no-such-command'"),
        (
            ["--json", "no/such/file.json", "--", "true"],
            "--json no/such/file.json: there is no folder",
        ),
        (["--json", ".", "--", "true"], "--json . is a folder, expected a file"),
        (["--kernels", "no/such", "--", "true"], "--kernels: there is no folder no/such"),
    ],
)
def test_wrong_arguments_are_named_before_the_command_runs(xpu_sdk, arguments, says):
    done = xpu_sdk("check", "--strict", *arguments)
    assert done.returncode == 2
    assert says in done.stdout
    assert "Traceback" not in done.stderr
    assert "strict memory" not in done.stdout


def test_no_command(xpu_sdk):
    done = xpu_sdk("check", "--strict")
    assert done.returncode == 2
    assert "no command given" in done.stdout


def test_data_that_is_not_spirv_is_rejected():
    with pytest.raises(ValueError, match="not a little-endian SPIR-V module"):
        spirv.read_module(b"\x00" * 64)
