"""Statements under conditions."""

from __future__ import annotations


def guarded(conditions: list[str], line: str) -> str:
    """Return a statement under conditions."""
    return f"if ({' && '.join(conditions)}) {line}" if conditions else line
