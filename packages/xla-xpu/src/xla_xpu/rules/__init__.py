"""How JAX lowers for xpu what it knows no rule for, or a better one is at hand."""

from __future__ import annotations

from . import buffer_callbacks, callbacks, collectives, foreign, inspection, linear_algebra


def apply() -> None:
    """Registers all of them; the platform must be registered already."""
    callbacks.apply()
    buffer_callbacks.apply()
    collectives.apply()
    inspection.apply()
    linear_algebra.apply()
    foreign.apply()
