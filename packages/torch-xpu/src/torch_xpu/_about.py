"""Facts about this adapter for ``xpu-sdk doctor``."""

from __future__ import annotations

from importlib.metadata import version


def about() -> dict[str, object]:
    """Return versions, and the runtime ABI this was compiled against; touch no device."""
    from . import _bridge

    return {
        "version": version("torch-xpu"),
        "framework": f"torch {version('torch')}",
        "abi": _bridge.abi,
    }
