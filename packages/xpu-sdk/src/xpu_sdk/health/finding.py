"""Result of one check of the doctor."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Literal

State = Literal["ok", "note", "fail"]


@dataclass(frozen=True)
class Finding:
    """The checked layer, what was found and, for a failure, the command that fixes it."""

    layer: str
    state: State
    found: str
    fix: str = ""
