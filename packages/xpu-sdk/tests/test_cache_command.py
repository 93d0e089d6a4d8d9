"""``xpu-sdk cache``."""

import pytest

SOURCE = "#include <xpu/core.h>\nXPU_KERNEL(1) k(xpu::global<int> x) { x[0] = 1; }"
KERNEL = f"""
import xpu_runtime as xr
xr.compile({SOURCE!r}).kernel("k")
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


@pytest.mark.driver_binaries
def test_explain_says_who_has_a_kernel_and_who_has_not(xpu_sdk, tmp_path, filled):
    (tmp_path / "kernel.sycl").write_text(SOURCE)
    done = xpu_sdk("cache", "explain", "kernel.sycl")
    assert done.returncode == 0, done.stdout
    assert "disk cache" in done.stdout
    assert "A process loads it." in done.stdout
    # With other options it is another kernel.
    other = xpu_sdk("cache", "explain", "kernel.sycl", "--option=-DOTHER")
    assert other.returncode == 1
    assert "A process builds it" in other.stdout
    for file in filled.glob("*.bin"):
        file.unlink()
    assert xpu_sdk("cache", "explain", "kernel.sycl").returncode == 1


def test_explain_rejects_what_is_no_source(xpu_sdk, tmp_path):
    (tmp_path / "binary").write_bytes(b"\xff\xfe")
    for name in ("missing.sycl", "binary"):
        done = xpu_sdk("cache", "explain", name)
        assert done.returncode == 1
        assert "cannot explain" in done.stdout
    assert xpu_sdk("cache", "explain").returncode == 2


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
