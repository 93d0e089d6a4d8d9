"""Random loop programs, each as a kernel and in an interpreter."""

import os
import sys
from pathlib import Path

os.environ.setdefault("XPU_TEST_VALUES", "1")
# The interpreter and how programs run are those of the suite's random programs.
sys.path.insert(0, str(Path(__file__).parents[2] / "tests" / "codegen"))

from random_case import make
from xpu_testing import fuzzing

if __name__ == "__main__":
    fuzzing.main(make)
