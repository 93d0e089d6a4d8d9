"""One thing the doctor looked at."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "fail"]


@dataclass(frozen=True)
class Finding:
    """What was looked at, what was found and, for a failure, the command that mends it."""

    layer: str
    state: State
    found: str
    fix: str = ""
