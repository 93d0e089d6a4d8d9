"""Local memory of a kernel."""

from __future__ import annotations

ALIGNMENT = 64


class LocalMemory:
    """Gives out parts of a kernel's local memory, which are used again once they are given back."""

    def __init__(self) -> None:
        self.bytes = 0  # what the kernel takes
        self._parts: list[tuple[int, int]] = []  # offset and end, in order

    def reserve(self, size: int) -> int:
        """Return the offset of a part of `size` bytes."""
        size = -(-size // ALIGNMENT) * ALIGNMENT
        at = 0
        for offset, end in self._parts:
            if offset - at >= size:
                break
            at = end
        self._parts.append((at, at + size))
        self._parts.sort()
        self.bytes = max(self.bytes, at + size)
        return at

    def release(self, offset: int) -> None:
        """Give back the part at an offset."""
        self._parts = [part for part in self._parts if part[0] != offset]
