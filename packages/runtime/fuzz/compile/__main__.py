"""Random expressions of the device library's functions, each in one kernel and function by function."""

import os

os.environ.setdefault("XPU_TEST_VALUES", "1")

from expression import make
from xpu_testing import fuzzing

if __name__ == "__main__":
    fuzzing.main(make)
