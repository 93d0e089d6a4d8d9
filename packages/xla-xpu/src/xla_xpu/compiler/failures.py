"""Why a program cannot be compiled; the plugin turns each into its status code."""

from __future__ import annotations


class Unsupported(Exception):
    """What the compiler does not know (UNIMPLEMENTED)."""


class Invalid(Exception):
    """What no compiler could accept (INVALID_ARGUMENT)."""
