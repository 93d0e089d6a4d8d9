"""Facts about this adapter for ``xpu-sdk doctor``."""

from __future__ import annotations

from importlib.metadata import version


def about() -> dict[str, object]:
    """Return versions; touch no device. Pure Python has no ABI of its own."""
    return {"version": version("ao-xpu"), "framework": f"torchao {version('torchao')}"}
