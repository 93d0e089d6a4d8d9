"""The device code that all kernels of flex attention share."""

from __future__ import annotations

from functools import cache
from importlib import resources


@cache
def device_source() -> str:
    """Return the text of the headers."""
    folder = resources.files(__package__)
    return "".join(
        folder.joinpath(name).read_text() for name in ("tiles.h", "forward.h", "backward.h")
    )
