"""XLA FFI functions that users register for xpu, which JAX's CPU backend runs on the host.

Programs call them by JAX's own rule, as on every platform; the compiler looks them up here.
"""

from __future__ import annotations

from typing import Any

from jaxlib import xla_client

# Prefix of a function's name in the CPU backend, which may have a function of the same name.
_PREFIX = "xpu."
_registered: set[str] = set()


def apply() -> None:
    """Handle past and future calls of ``jax.ffi.register_ffi_target(..., platform="xpu")``."""
    xla_client.register_custom_call_handler("xpu", _register)


def name_on_host(name: str) -> str | None:
    """Return a function's name in programs for the CPU backend; None if it is not registered."""
    return _PREFIX + name if name in _registered else None


def _register(name: str, function: Any, platform: str, api_version: int, traits: Any) -> None:
    xla_client._xla.register_custom_call_target(
        _PREFIX + name, function, xla_client.xla_platform_names["cpu"], api_version, traits
    )
    _registered.add(name)
