"""Programs of large and negative integers, compiled and on the CPU: ``nox -s fuzz -- integers``."""

import os
import warnings

os.environ["XPU_FALLBACK"] = "error"
# What a run has cached would hide what the next one generates.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"

from integer_case import IntegerCase
from xpu_testing import fuzzing

warnings.simplefilter("ignore")
fuzzing.main(IntegerCase)
