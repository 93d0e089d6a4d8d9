"""Random state: Philox 4x32-10, the same stream of numbers for a seed on every device."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._native import C

if TYPE_CHECKING:

    class Generator:
        """Random state: a Philox seed and offset."""

        seed: int
        offset: int

        def __init__(self, seed: int = ...) -> None: ...
        def take(self, increment: int) -> tuple[int, int]:
            """Reserve ``increment`` numbers: return the seed and the offset at which they begin."""
else:
    Generator = C.Generator


def default_generator(device: int | None = None) -> Generator:
    """Return the generator every framework of the process shares on the device."""
    return C.default_generator(C.current_device() if device is None else device)


def manual_seed(seed: int) -> None:
    """Seed the default generator of every device."""
    for index in range(C.device_count()):
        C.default_generator(index).seed = seed
