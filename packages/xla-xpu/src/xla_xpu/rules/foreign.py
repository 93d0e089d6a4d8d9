"""Functions of the XLA FFI that users register for xpu: they are run on the host, by JAX's CPU backend.

Programs call them as on every platform, by JAX's own rule; the compiler asks here which there are.
"""

from __future__ import annotations

from typing import Any

from jaxlib import xla_client

# As which a function is known to the CPU backend, which may have one of the same name.
_PREFIX = "xpu."
_registered: set[str] = set()


def apply() -> None:
    """Takes what ``jax.ffi.register_ffi_target(..., platform="xpu")`` registers, before or from now on."""
    xla_client.register_custom_call_handler("xpu", _take)


def name_on_host(name: str) -> str | None:
    """A function's name in programs for the CPU backend; None when nobody has registered it."""
    return _PREFIX + name if name in _registered else None


def _take(name: str, function: Any, platform: str, api_version: int, traits: Any) -> None:
    xla_client._xla.register_custom_call_target(
        _PREFIX + name, function, xla_client.xla_platform_names["cpu"], api_version, traits
    )
    _registered.add(name)
