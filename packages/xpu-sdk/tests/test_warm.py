"""``xpu-sdk warm``: kernels are built before they are needed."""

import os
import signal
import subprocess
import sys
import time
from types import SimpleNamespace

import pytest
from xpu_sdk.commands import warm
from xpu_sdk.gpu_checks import spirv

# Its kernel does not ship.
PROGRAM = """
import sys
import xpu_runtime as xr
source = "#include <xpu/core.h>\\nXPU_KERNEL(1) one(xpu::global<int> x) {{ x[0] = 1; }}"
xr.compile(source).kernel("one")
sys.exit({code})
"""


def natives(cache_home):
    return list((cache_home / "xpu-sdk" / "kernels").glob("*.bin"))


@pytest.mark.parametrize("code", [0, 3])
def test_a_program_leaves_its_kernels(xpu_sdk, tmp_path, cache_home, code):
    (tmp_path / "program.py").write_text(PROGRAM.format(code=code))
    done = xpu_sdk("warm", "program.py")
    assert done.returncode == code
    assert "files added" in done.stdout
    assert natives(cache_home)


@pytest.mark.parametrize("command", ["warm", "trace"])
def test_a_program_gets_its_arguments_as_they_are(xpu_sdk, tmp_path, command):
    (tmp_path / "program.py").write_text("import sys\nprint(sys.argv[1:])\n")
    for arguments in (["--", "--x"], ["a", "--", "-o", "b"], ["-h"], ["--", "--"], []):
        for before in ([], ["--"]):
            done = xpu_sdk(command, *before, "program.py", *arguments)
            assert done.stdout.splitlines()[0] == str(arguments), done.stdout + done.stderr


@pytest.mark.driver_binaries
def test_ctrl_c_keeps_what_is_built(tmp_path, cache_home):
    command = [sys.executable, "-m", "xpu_sdk", "warm"]
    env = os.environ | {"XDG_CACHE_HOME": str(cache_home)}
    process = subprocess.Popen(command, cwd=tmp_path, env=env, stdout=-1, stderr=-1, text=True)
    end = time.monotonic() + 60
    while len(natives(cache_home)) < 4 and time.monotonic() < end:
        time.sleep(0.1)
    process.send_signal(signal.SIGINT)
    out, err = process.communicate(timeout=30)
    assert process.returncode == 130, out + err
    assert "Traceback" not in out + err
    assert len(natives(cache_home)) >= 4


class Runtime:
    """A runtime with three kernels, of which its compiler does not build the second."""

    Error = RuntimeError
    built: list[bytes] = []
    ready_kernels = SimpleNamespace(spirv=lambda device: [b"first", b"second", b"third"])

    def from_spirv(self, spirv, name, device):
        if spirv == b"second":
            raise self.Error("the compiler died")
        self.built.append(spirv)


def test_a_kernel_that_cannot_be_built_is_told(monkeypatch, capsys):
    monkeypatch.setattr(spirv, "read_module", lambda data: SimpleNamespace(kernels=["kernel"]))
    warm._build(Runtime(), SimpleNamespace(index=0, name="device"))
    assert sorted(Runtime.built) == [b"first", b"third"]
    assert "device cannot build 1 of 3 kernels: the compiler died" in capsys.readouterr().out


def test_the_generic_mode_says_that_nothing_ships(xpu_sdk):
    done = xpu_sdk("warm", XPU_GENERIC_BACKEND="1")
    assert done.returncode == 0
    assert "No kernels ship" in done.stdout


def test_a_cache_that_is_off(xpu_sdk):
    done = xpu_sdk("warm", XPU_CACHE_SIZE="0")
    assert done.returncode == 1
    assert "is off" in done.stdout


def test_a_cache_that_cannot_be_written(xpu_sdk, cache_home):
    folder = cache_home / "xpu-sdk"
    folder.mkdir(mode=0o700)
    (folder / "kernels").write_text("no folder")
    done = xpu_sdk("warm")
    assert done.returncode == 1
    assert "Run: xpu-sdk doctor" in done.stdout
