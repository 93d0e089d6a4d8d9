"""Every program passes its own checks, in a process with limits of time and memory."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parent))

import everyday_programs


def test_every_program_is_listed():
    files = {path.stem for path in everyday_programs.FOLDER.glob("*.py")}
    assert files == set(everyday_programs.PROGRAMS)


@pytest.mark.parametrize("name", everyday_programs.parameters(all_programs=True))
def test_program(name, tmp_path):
    everyday_programs.run(name, tmp_path)
