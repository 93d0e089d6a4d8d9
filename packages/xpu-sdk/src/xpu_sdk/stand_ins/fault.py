"""What a stand-in found."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Fault:
    """Something that would go wrong on a GPU; ``serious`` false when it would only be slow, or is unsure."""

    stand_in: str
    what: str
    serious: bool = True
    detail: str = ""
