"""Products and convolutions with random steps after them, compiled and eager: ``nox -s fuzz -- fusions``."""

import os
import warnings

os.environ["XPU_FALLBACK"] = "error"
# What a run has cached would hide what the next one generates.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"

from fused_case import FusedCase
from xpu_testing import fuzzing

warnings.simplefilter("ignore")
fuzzing.main(FusedCase)
