"""A damaged package is an error or gives right values; the fuzzer notices one that is believed."""

import subprocess
import sys
from pathlib import Path

import pytest

FUZZER = Path(__file__).parents[2] / "fuzz" / "packages"

pytestmark = pytest.mark.values


def _run(path, *arguments):
    command = [sys.executable, str(FUZZER), "--file", str(path), *arguments]
    return subprocess.run(command, capture_output=True, text=True, timeout=300)


def test_damaged_packages(packaged):
    done = _run(packaged[0], "--cases", "8", "--seed", "1")
    assert done.returncode == 0, done.stdout[-3000:]
    assert "an error" in done.stdout.splitlines()[-1]


def test_wrong_values_are_noticed(packaged):
    done = _run(packaged[0], "--cases", "1", "--expect-zeros")
    assert done.returncode != 0
    assert "the sound package is wrong" in done.stderr
