"""Random JAX programs on xpu beside JAX's own CPU backend: ``nox -s fuzz -- jax``."""

import os

os.environ.setdefault("JAX_PLATFORMS", "xpu,cpu")

from case import Case
from xpu_testing import fuzzing

fuzzing.main(Case)
