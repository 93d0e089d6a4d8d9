"""No operator of these suites may run on the host unnoticed; the helpers beside the tests are importable."""

import os
import sys
from pathlib import Path

import pytest
import torch
from xpu_testing import values_checked
from xpu_testing.torch_values import assert_same_shapes

os.environ["XPU_FALLBACK"] = "error"
sys.path.insert(0, str(Path(__file__).parent))


if not values_checked():
    torch.testing.assert_close = assert_same_shapes


@pytest.fixture
def forget_compiled_code():
    torch._dynamo.reset()
    torch.manual_seed(0)
    yield
    torch._dynamo.reset()
