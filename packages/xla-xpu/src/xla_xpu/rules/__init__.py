"""JAX lowering rules for primitives that have none for xpu, or a slower one."""

from __future__ import annotations

from . import (
    buffer_callbacks,
    callbacks,
    collectives,
    foreign,
    inspection,
    linear_algebra,
    special_functions,
)


def apply() -> None:
    """Register all rules; the platform must be registered already."""
    callbacks.apply()
    buffer_callbacks.apply()
    collectives.apply()
    inspection.apply()
    linear_algebra.apply()
    special_functions.apply()
    foreign.apply()
