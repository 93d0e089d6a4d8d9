"""A C++ program without Python, built with CMake against the wheels."""

import os
import subprocess
from pathlib import Path

import pytest
import torch
from model_packages import manifest_of, model_files, write_package
from xpu_testing.cmake_programs import build_program

import torch_xpu
from torch_xpu.torch_version import COMPILED_FOLDER

SOURCES = Path(__file__).parent / "cpp_program"


def run(*command, **options):
    return subprocess.run(
        [*map(str, command)], capture_output=True, text=True, timeout=300, check=False, **options
    )


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("build")
    prefixes = torch.utils.cmake_prefix_path, torch_xpu.cmake_prefix_path
    build_program(SOURCES, folder, prefixes)
    return folder / "program"


@pytest.fixture(scope="module")
def package(tmp_path_factory):
    folder = tmp_path_factory.mktemp("package")
    files = model_files(folder)
    return write_package(folder, files, manifest_of(files))


@pytest.mark.values
def test_it_computes_on_xpu_and_keeps_its_status(program):
    done = run(program, env=os.environ | {"PYTHONHOME": "/nowhere"})
    assert done.returncode == 3, done.stderr
    lines = done.stdout.splitlines()
    assert lines[0] == f"device 0 of {torch.xpu.device_count()}"
    assert lines[1:] == ["sum 1e+06", "sum on a stream 500500"]


@pytest.mark.values
def test_it_loads_a_package_without_python(program, package):
    done = run(program, package, env=os.environ | {"XPU_CACHE_SIZE": "0"})
    assert done.returncode == 3, done.stderr
    assert done.stdout.splitlines()[3:] == ["package 12"]


@pytest.mark.values
def test_it_says_what_is_wrong_with_a_package(program, package, tmp_path):
    damaged = tmp_path / "damaged.pt2"
    damaged.write_bytes(package.read_bytes().replace(b"abi ", b"ab1 "))
    done = run(program, damaged)
    assert done.returncode == 1
    assert "expected" in done.stderr or "CRC" in done.stderr


def test_it_links_no_python(program):
    linked = run("ldd", program).stdout
    assert "libtorch_xpu_bridge.so" in linked
    assert "libtorch_xpu_device.so" in linked
    assert "python" not in linked.replace(str(Path(torch_xpu.__file__).parents[1]), "")
    assert "not found" not in linked


def test_the_bridge_links_no_vendor_library():
    bridge = COMPILED_FOLDER / "lib" / "libtorch_xpu_bridge.so"
    needed = run("readelf", "-d", bridge).stdout
    assert "libtorch_cpu.so" in needed
    assert not [
        name
        for name in ("python", "sycl", "xpu_runtime", "dnnl", "OpenCL")
        if f"lib{name}" in needed
    ]
