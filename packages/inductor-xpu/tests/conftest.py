"""No operator of these suites may run on the host unnoticed; the helpers beside the tests are importable."""

import os
import sys
from pathlib import Path

import torch
from xpu_testing import values_checked

os.environ["XPU_FALLBACK"] = "error"
sys.path.insert(0, str(Path(__file__).parent))


# Of comparisons by torch.testing, where the device computes no values.
def _shapes_only(got: object, expected: object, **_: object) -> None:
    if isinstance(expected, (list, tuple)):
        assert isinstance(got, (list, tuple))
        for one, other in zip(got, expected, strict=True):
            _shapes_only(one, other)
    elif isinstance(expected, torch.Tensor) and not expected.is_nested:
        assert isinstance(got, torch.Tensor)
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)


if not values_checked():
    torch.testing.assert_close = _shapes_only
