"""Places in the user's source, as MLIR writes them."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass

_PLACE = re.compile(r'"((?:[^"\\]|\\.)*)":(\d+)(?::\d+)?|(#loc\d*)')
# Functions of Triton's own library are not the user's.
_LIBRARY = re.compile(r"[/\\]triton[/\\](language|runtime|experimental)[/\\]")


@dataclass(frozen=True)
class Location:
    """A line of a file."""

    file: str
    line: int

    def __str__(self) -> str:
        return f"{self.file}:{self.line}"


def resolve(text: str, aliases: Mapping[str, str]) -> Location | None:
    """Return the user's line of a location: of inlined calls, the innermost outside Triton's library."""
    found = list(_places(text, aliases))
    own = [place for place in found if not _LIBRARY.search(place.file)]
    return next(iter(own or found), None)


def _places(text: str, aliases: Mapping[str, str]) -> Iterator[Location]:
    for match in _PLACE.finditer(text):
        if match[1] is not None:
            yield Location(match[1], int(match[2]))
        else:
            yield from _places(aliases.get(match[3], ""), aliases)
