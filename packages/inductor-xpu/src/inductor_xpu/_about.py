"""Facts about this adapter for ``xpu-sdk doctor``."""

from __future__ import annotations

from torch_xpu import torch_version
from xpu_runtime.framework_version import describe


def about() -> dict[str, object]:
    """Return versions; touch no device. Pure Python has no ABI of its own."""
    return describe("inductor-xpu", "torch", torch_version.mismatch())
