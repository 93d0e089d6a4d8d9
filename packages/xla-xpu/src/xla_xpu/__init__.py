"""The xpu device for JAX, which finds the plugin by its entry point; importing this touches no device."""

from __future__ import annotations


def host_calls() -> dict[str, int]:
    """Return how often programs called each host function (LAPACK, callbacks, FFI targets), by name."""
    from . import _plugin

    return _plugin.host_calls()
