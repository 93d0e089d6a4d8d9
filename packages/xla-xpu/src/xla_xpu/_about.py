"""Versions for ``xpu-sdk doctor``."""

from __future__ import annotations

from importlib.metadata import version


def about() -> dict[str, object]:
    """Return versions and the runtime ABI of the plugin; touch no device."""
    from . import _plugin

    return {
        "version": version("xla-xpu"),
        "framework": f"jax {version('jax')}",
        "abi": _plugin.abi,
    }
