"""Comparison of PyTorch's results, for the suites of its adapters."""

from __future__ import annotations

import torch

# (relative, absolute). Halves are compared with other devices' halves, whose steps may round elsewhere.
TOLERANCES = {
    torch.float16: (4e-3, 4e-3),
    torch.bfloat16: (3e-2, 3e-2),
    torch.float32: (1e-4, 2e-5),
    torch.float64: (1e-7, 1e-7),
    torch.complex64: (1e-4, 2e-5),
    torch.complex128: (1e-7, 1e-7),
}


def assert_same_shapes(got: object, expected: object, **_: object) -> None:
    """Replace ``torch.testing.assert_close`` where the device computes no values."""
    if isinstance(expected, (list, tuple)):
        assert isinstance(got, (list, tuple))
        for one, other in zip(got, expected, strict=True):
            assert_same_shapes(one, other)
    elif isinstance(expected, torch.Tensor) and not expected.is_nested:
        assert isinstance(got, torch.Tensor)
        assert (got.dtype, got.shape) == (expected.dtype, expected.shape)
