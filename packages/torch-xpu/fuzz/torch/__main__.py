"""Random calls of PyTorch's operators on xpu beside the CPU: ``nox -s fuzz -- torch``."""

import os
import warnings

os.environ["XPU_FALLBACK"] = "error"

from case import Case
from operators import chosen
from xpu_testing import fuzzing

warnings.simplefilter("ignore")
fuzzing.main(lambda random: Case(random, chosen(random)))
