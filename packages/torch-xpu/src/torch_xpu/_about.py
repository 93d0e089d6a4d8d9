"""Facts about this adapter for ``xpu-sdk doctor``."""

from __future__ import annotations

from xpu_runtime.framework_version import describe

from .torch_version import mismatch


def about() -> dict[str, object]:
    """Return versions, and the runtime ABI this was compiled against; touch no device."""
    known = describe("torch-xpu", "torch", mismatch())
    if "problem" in known:
        return known
    from . import _bridge

    return known | {"abi": _bridge.abi}
