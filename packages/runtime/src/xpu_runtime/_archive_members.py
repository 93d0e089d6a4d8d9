"""Members of a tar archive, read from a stream that may be damaged.

Unlike `tarfile`, this goes on behind a damaged header, and reads no more into memory than is asked for.
"""

from __future__ import annotations

import tarfile
from collections.abc import Iterator
from gzip import GzipFile

_BLOCK = tarfile.BLOCKSIZE


class Member:
    """One member. It can be read until the next one is taken."""

    def __init__(self, header: tarfile.TarInfo, stream: GzipFile) -> None:
        """Begin behind the header."""
        self.name, self.size, self.is_file = header.name, header.size, header.isreg()
        self._stream, self._left = stream, header.size

    def read(self, size: int) -> bytes:
        """Return at most `size` bytes; nothing at the member's end. Raises EOFError if the stream ends."""
        part = self._stream.read(min(size, self._left))
        if not part and size and self._left:
            raise EOFError(f"the archive ends within {self.name!r}")
        self._left -= len(part)
        return part

    def skip(self) -> None:
        """Read what is left, and what fills the last block."""
        while self.read(1 << 20):
            pass
        self._stream.read(-self.size % _BLOCK)


def members(stream: GzipFile) -> Iterator[Member]:
    """Yield the members whose headers are sound. What is behind another header is skipped."""
    while len(block := stream.read(_BLOCK)) == _BLOCK:
        try:
            header = tarfile.TarInfo.frombuf(block, "utf-8", "surrogateescape")
        except tarfile.HeaderError:  # also of the empty blocks at the end
            continue
        if header.size < 0:
            continue
        yield (member := Member(header, stream))
        member.skip()
