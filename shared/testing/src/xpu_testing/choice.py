"""A number that looks random and depends on a text alone: it chooses tests by their names."""

from hashlib import sha256


def number_of(text: str) -> int:
    """Return a 64-bit number. Texts that differ in one character have unrelated ones."""
    return int.from_bytes(sha256(text.encode()).digest()[:8], "big")
