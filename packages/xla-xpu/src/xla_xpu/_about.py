"""Versions for ``xpu-sdk doctor``."""

from __future__ import annotations

from xpu_runtime.framework_version import describe

from .jax_version import mismatch


def about() -> dict[str, object]:
    """Return versions and the runtime ABI of the plugin; touch no device."""
    known = describe("xla-xpu", "jax", mismatch())
    if "problem" in known:
        return known
    from . import _plugin

    return known | {"abi": _plugin.abi}
