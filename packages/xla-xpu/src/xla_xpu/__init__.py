"""The xpu device for JAX. JAX finds the plugin by its entry point; what is here is for those who ask."""

from __future__ import annotations


def host_calls() -> dict[str, int]:
    """How often programs have called each function of the host: LAPACK's, callbacks, FFI targets."""
    from . import _plugin

    return _plugin.host_calls()
