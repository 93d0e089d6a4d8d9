"""Random kernels of Triton's language on xpu and in Triton's interpreter: ``nox -s fuzz -- triton``."""

import os

os.environ["XPU_FALLBACK"] = "error"

from kernel_case import KernelCase
from xpu_testing import fuzzing

fuzzing.main(KernelCase)
