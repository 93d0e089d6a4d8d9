"""A problem that a program would have on a GPU."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class GpuIssue:
    """A finding of a check. ``is_error`` is false if it only costs speed, or if the check is unsure."""

    check: str
    what: str
    is_error: bool = True
    detail: str = ""
