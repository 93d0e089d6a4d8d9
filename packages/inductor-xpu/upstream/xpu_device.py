"""Plugin of pytest: PyTorch's tests of Inductor take xpu for their GPU."""

from __future__ import annotations

# What PyTorch's tests ask before they define those for GPUs. They take Triton for granted on every GPU.
_TRUE = ("HAS_XPU_AND_TRITON", "HAS_GPU", "HAS_GPU_AND_TRITON", "RUN_GPU")


def pytest_configure() -> None:
    """Make xpu the GPU, before the tests are imported."""
    from torch.testing._internal import inductor_utils

    for name in _TRUE:
        setattr(inductor_utils, name, True)
    inductor_utils.RUN_CPU = False
    inductor_utils.GPU_TYPE = "xpu"
