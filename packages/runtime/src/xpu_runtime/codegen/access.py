"""Templates that convert between stored elements and the types in which kernels compute."""

from __future__ import annotations

from .elements import Element


def load_template(element: Element) -> str:
    """Return the template that converts a stored element to the type in which kernels compute."""
    if element.kind == "bool":
        return "({0} != 0)"
    return "(float){0}" if element.narrow else "{0}"


def store_template(element: Element) -> str:
    """Return the template that converts a computed element to the stored type."""
    if element.kind == "bool":
        return "(u8){0}"
    return f"to<{element.stored}>({{0}})" if element.narrow else "{0}"
