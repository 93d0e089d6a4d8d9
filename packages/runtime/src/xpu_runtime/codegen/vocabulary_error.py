"""The error for names that the code generators' tables do not have."""

from __future__ import annotations

from collections.abc import Iterable


class VocabularyError(LookupError):
    """No element type or function has the name; the message lists the names that exist."""


def unknown_name(argument: str, name: object, known: Iterable[str]) -> VocabularyError:
    """Return the error for an argument that has none of the known values."""
    return VocabularyError(f"{argument}: got {name!r}, expected one of {', '.join(known)}")
