"""A C++ program, built with CMake against the wheels, runs a package; no Python is in its process."""

import subprocess
from pathlib import Path

import pytest
import torch
import torch_xpu
from xpu_testing.cmake_programs import build_program

SOURCE = Path(__file__).parents[2] / "cpp_program"
PREFIXES = (torch.utils.cmake_prefix_path, torch_xpu.cmake_prefix_path)


def _output(*command, **named):
    done = subprocess.run(command, capture_output=True, text=True, timeout=300, **named)
    assert done.returncode == 0, f"{done.stdout[-2000:]}\n{done.stderr[-3000:]}"
    return done.stdout


@pytest.fixture(scope="module")
def program(tmp_path_factory):
    folder = tmp_path_factory.mktemp("program")
    build_program(SOURCE, folder, PREFIXES)
    return folder / "score"


@pytest.mark.values
@torch.no_grad()
def test_a_program_gives_the_numbers_of_the_model(program, packaged):
    path, model = packaged
    words = torch.arange(120, device="xpu") % 50
    expected = model(words, torch.arange(16.0, device="xpu"))
    got = map(float, _output(program, str(path), "120").split())
    for ours, theirs in zip(got, expected, strict=True):
        assert ours == pytest.approx(theirs.sum().item(), rel=1e-4, abs=1e-2)


def test_the_process_has_no_python(program, packaged):
    libraries = _output("ldd", str(program))
    assert "libtorch_xpu_device" in libraries
    assert "libpython" not in libraries
    assert "libtorch_python" not in libraries


def test_a_wrong_input_is_an_error_with_its_name(program, packaged):
    done = subprocess.run(
        [program, str(packaged[0]), "1"], capture_output=True, text=True, timeout=60
    )
    assert done.returncode == 1
    assert "input 0 (words): got size 1 in dimension 0, expected 2 to 5000" in done.stderr
