"""The registry of environment variables."""

from __future__ import annotations

import os
import tomllib
from dataclasses import dataclass
from importlib import resources


@dataclass(frozen=True)
class Variable:
    """One environment variable the SDK reads."""

    name: str
    type: str
    default: str
    meaning: str
    for_developers: bool = False  # only those of this repository set it

    @property
    def value(self) -> str | None:
        """What it is set to, or None."""
        return os.environ.get(self.name)


def registry() -> list[Variable]:
    """Return every variable, in the order of env.toml."""
    table = tomllib.loads(resources.files(__package__).joinpath("env.toml").read_text())
    return [Variable(name, **fields) for name, fields in table.items()]


def unknown() -> list[str]:
    """Return `XPU_` variables that are set but that nothing reads: most likely misspelt."""
    known = {variable.name for variable in registry()}
    return sorted(name for name in os.environ if name.startswith("XPU_") and name not in known)


def is_set(name: str) -> bool:
    """Return True if a switch is on."""
    return os.environ.get(name) == "1"
