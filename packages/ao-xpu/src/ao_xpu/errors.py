"""Errors of this package."""

from __future__ import annotations


class DoesNotFitError(ValueError):
    """A weight that a scheme does not take: `quantize_` leaves the layer as it is, and names it."""
