"""``xpu-sdk cache``."""

import pytest

KERNEL = """
import xpu_runtime as xr
xr.compile("#include <xpu/core.h>\\nXPU_KERNEL(1) k(xpu::global<int> x) { x[0] = 1; }").kernel("k")
"""


@pytest.fixture
def filled(xpu_sdk, tmp_path, cache_home):
    (tmp_path / "program.py").write_text(KERNEL)
    assert xpu_sdk("trace", "program.py").returncode == 0
    return cache_home / "xpu-sdk" / "kernels"


@pytest.mark.usefixtures("filled")
def test_list_and_stats(xpu_sdk):
    assert ".bin" in xpu_sdk("cache", "list").stdout
    assert "SPIR-V" in xpu_sdk("cache", "stats").stdout


def test_verify_names_a_damaged_file(xpu_sdk, filled):
    assert xpu_sdk("cache", "verify").returncode == 0
    file = next(filled.glob("*.bin"))
    file.write_bytes(file.read_bytes()[:-1] + b"?")
    done = xpu_sdk("cache", "verify")
    assert done.returncode == 1
    assert file.name in done.stdout.replace("\n", "")


def test_clear(xpu_sdk, filled):
    assert "files removed" in xpu_sdk("cache", "clear").stdout
    assert not list(filled.iterdir())


def test_a_cache_that_is_off(xpu_sdk):
    done = xpu_sdk("cache", "list", XPU_CACHE_SIZE="0")
    assert done.returncode == 1
    assert "is off" in done.stdout


# What rich takes for markup and for an emoji.
ODD = "[/red] [bold :smile:"


@pytest.fixture
def odd_folder(tmp_path):
    (tmp_path / ODD / "cache").mkdir(parents=True, mode=0o700)
    return str(tmp_path / ODD / "cache")


@pytest.mark.parametrize(
    "command",
    [
        ["cache", "stats"],
        ["cache", "list"],
        ["cache", "verify"],
        ["cache", "export", ODD + "/file"],
        ["cache", "import", ODD + "/missing"],
        ["warm", ODD + "/program.py"],
        ["trace", "-o", ODD + "/trace.json", ODD + "/program.py"],
        ["cache", "clear"],
        ["info"],
    ],
    ids=" ".join,
)
def test_names_with_brackets_are_printed_as_they_are(xpu_sdk, tmp_path, odd_folder, command):
    (tmp_path / ODD / "program.py").write_text(KERNEL)
    env = {"XDG_CACHE_HOME": odd_folder, "COLUMNS": "400"}
    assert xpu_sdk("trace", ODD + "/program.py", **env).returncode == 0
    done = xpu_sdk(*command, **env)
    assert "Traceback" not in done.stderr
    assert done.returncode == ("missing" in command[-1])
    if "export" not in command:  # that names no file
        assert "".join(ODD.split()) in "".join(done.stdout.split())  # titles of tables wrap
