"""As for the tests: xpu first and JAX's CPU beside it, and what they share."""

import os
import sys
from pathlib import Path

os.environ["JAX_PLATFORMS"] = "xpu,cpu"
sys.path.insert(0, str(Path(__file__).parents[1] / "tests"))
