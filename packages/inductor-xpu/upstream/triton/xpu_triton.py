"""Plugin of pytest: Triton's tests allocate the scratch memory of kernels on xpu."""

from __future__ import annotations

import torch


def _allocate(size: int, alignment: int, stream: object) -> torch.Tensor:
    return torch.empty(size, dtype=torch.int8, device="xpu")


def pytest_configure() -> None:
    """Replace what Triton's fixture allocates with, before the tests are imported."""
    from triton import _internal_testing

    _internal_testing.default_alloc_fn = _allocate
