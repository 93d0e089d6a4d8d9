"""Short programs of every day that need no library besides the tests' own. `nox -s everyday` runs all."""

import os
import sys
from pathlib import Path

import pytest

sys.path.insert(0, str(Path(__file__).parents[1] / "everyday"))

import everyday_programs

# Their limits of time are those of a user's run.
pytestmark = pytest.mark.skipif(
    any(os.environ.get(name) == "1" for name in ("XPU_STRICT_MEMORY", "XPU_GENERIC_BACKEND")),
    reason="programs run as users run them, with neither strict memory nor the generic backend",
)


@pytest.mark.parametrize("name", everyday_programs.parameters(all_programs=False))
def test_program(name, tmp_path):
    everyday_programs.run(name, tmp_path)
