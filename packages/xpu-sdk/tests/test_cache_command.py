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
    assert ".spv" in xpu_sdk("cache", "list").stdout
    assert "SPIR-V" in xpu_sdk("cache", "stats").stdout


def test_verify_names_a_damaged_file(xpu_sdk, filled):
    assert xpu_sdk("cache", "verify").returncode == 0
    file = next(filled.glob("*.spv"))
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
