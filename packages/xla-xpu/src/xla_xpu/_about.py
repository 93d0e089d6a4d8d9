"""What ``xpu-sdk doctor`` asks of an adapter."""

from __future__ import annotations

from importlib.metadata import version


def about() -> dict[str, object]:
    """Versions, and the runtime ABI this was compiled against; touches no device."""
    from . import _plugin

    return {
        "version": version("xla-xpu"),
        "framework": f"jax {version('jax')}",
        "abi": _plugin.abi,
    }
