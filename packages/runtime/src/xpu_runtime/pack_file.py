"""Files of kernels that ship in wheels: csrc/compile/stores/pack_file.cpp reads what this writes."""

from __future__ import annotations

import struct
from collections.abc import Iterable
from hashlib import sha256
from pathlib import Path
from typing import NamedTuple

MAGIC = b"XPUREAD3"
HEAD = struct.Struct("<8sQ")
# The key, the digest of the content, offset and size of its two parts, the devices that it is for.
ENTRY = struct.Struct("<32s32sQQQQQ")
# `devices` is a sum of this and of the bytes of CPUs' vector registers.
GPU = 1


class Item(NamedTuple):
    """The content that a key finds. Its first `split` bytes lie beside those of other items."""

    key: bytes
    content: bytes
    devices: int
    split: int = 0


def write(path: Path, items: Iterable[Item]) -> None:
    """Write contents in the order of `items`: a wheel is smaller if neighbors resemble each other."""
    items = list(items)
    at = HEAD.size + ENTRY.size * len(items)
    bodies: list[bytes] = []
    offsets: list[list[int]] = [[], []]
    for part, starts in enumerate(offsets):
        for item in items:
            body = item.content[item.split :] if part else item.content[: item.split]
            starts.append(at)
            bodies.append(body)
            at += len(body)
    entries = [
        ENTRY.pack(
            item.key,
            sha256(item.content).digest(),
            *(first, item.split),
            *(second, len(item.content) - item.split),
            item.devices,
        )
        for item, first, second in zip(items, *offsets, strict=True)
    ]
    path.write_bytes(b"".join([HEAD.pack(MAGIC, len(items)), *sorted(entries), *bodies]))


def read(path: Path) -> list[Item]:
    """Return the items of a file, in the order of their contents. Raises ValueError if one is damaged."""
    data = path.read_bytes()
    _, count = HEAD.unpack_from(data)
    items = {}
    for index in range(count):
        entry = ENTRY.unpack_from(data, HEAD.size + ENTRY.size * index)
        key, digest, first, first_size, second, second_size, devices = entry
        content = data[first : first + first_size] + data[second : second + second_size]
        if sha256(content).digest() != digest:
            raise ValueError(f"{path} is damaged")
        items[second] = Item(key, content, devices, first_size)
    return [items[offset] for offset in sorted(items)]
