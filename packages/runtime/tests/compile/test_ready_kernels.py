"""Kernels that ship as SPIR-V: found on every device, and compiled instead if their file is damaged."""

import shutil
from pathlib import Path

import pytest

from xpu_runtime import _pack_file
from xpu_runtime._native import C

pytestmark = pytest.mark.driver_binaries

# Prints whether this process compiled a kernel from source.
FILL = """
import xpu_runtime as xr
x = xr.empty((64, 64), "{dtype}")
xr.kernels.fill(x.transpose(), 3)
xr.synchronize()
if {check}: assert (x.numpy() == 3).all()
print("libsycl-jit" in open("/proc/self/maps").read())
"""
HEAD, ENTRY = _pack_file.HEAD.size, _pack_file.ENTRY.size


def compiles(child, cache, dtype, check=False, **env):
    env |= {"XPU_CACHE_DIR": str(cache), "XPU_BUILD_PROCESSES": "0"}
    result = child(FILL.format(dtype=dtype, check=check), env=env).check()
    return result.out.strip() == "True", result.err


@pytest.mark.parametrize(("dtype", "ships"), [("f32", True), ("bf16", True), ("u16", False)])
def test_what_ships_needs_no_compiler(child, tmp_path, dtype, ships):
    compiled, _ = compiles(child, tmp_path / "cache", dtype)
    assert compiled is not ships


def whole(data):
    return data


def missing(data):
    return None


def empty(data):
    return b""


def of_another_kind(data):
    return b"else" + data[4:]


def that_claims_more_kernels(data):
    return data[:8] + b"\xff" * 7 + b"\0" + data[16:]


def that_ends_in_the_entries(data):
    return data[: HEAD + ENTRY // 2]


def that_ends_before_the_kernels(data):
    return data[: HEAD + ENTRY * int.from_bytes(data[8:16], "little")]


def with_other_kernels(data):
    entries = HEAD + ENTRY * int.from_bytes(data[8:16], "little")
    return data[:entries] + bytes(byte ^ 255 for byte in data[entries:])


@pytest.mark.values
@pytest.mark.parametrize(
    ("file", "warns"),
    [
        (whole, False),
        (missing, False),
        (empty, True),
        (of_another_kind, True),
        (that_claims_more_kernels, True),
        (that_ends_in_the_entries, True),
        (that_ends_before_the_kernels, True),
        (with_other_kernels, True),
    ],
)
def test_a_damaged_file_is_one_warning(child, tmp_path, xr, file, warns):
    """In a copy of the package, beside libraries of the vendor that stay where they are."""
    package = Path(xr.__file__).parent
    shutil.copytree(package, tmp_path / "site" / package.name)
    ready = tmp_path / "site" / package.name / "kernels.ready"
    data = file(ready.read_bytes())
    ready.unlink() if data is None else ready.write_bytes(data)
    libraries = C.vendor_folder()
    paths = {"PYTHONPATH": str(tmp_path / "site"), "LD_LIBRARY_PATH": libraries}
    compiled, errors = compiles(child, tmp_path / "cache", "f32", True, **paths)
    assert compiled is (file is not whole)
    assert errors.count("is damaged") == warns
