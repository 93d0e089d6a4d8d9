"""Random programs compiled by torch.compile on xpu beside eager ones: ``nox -s fuzz -- inductor``."""

import os
import warnings

os.environ["XPU_FALLBACK"] = "error"
# What a run has cached would hide what the next one generates.
os.environ["TORCHINDUCTOR_FORCE_DISABLE_CACHES"] = "1"

from case import Case
from xpu_testing import fuzzing

warnings.simplefilter("ignore")
fuzzing.main(Case)
