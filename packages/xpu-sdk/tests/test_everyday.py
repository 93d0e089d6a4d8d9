"""Programs of every day that need no library besides the tests' own. `nox -s everyday` runs all."""

import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "everyday"))

import everyday_programs


@pytest.mark.parametrize("name", everyday_programs.parameters(group=False))
def test_program(name, tmp_path):
    everyday_programs.run(name, tmp_path)
