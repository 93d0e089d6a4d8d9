"""The kernel cache on disk: what is in it, whether it is sound, how to empty it."""

from __future__ import annotations

import builtins
import hashlib
from dataclasses import dataclass
from pathlib import Path

from ._native import C

_MAGIC = b"XPUCACHE1\n"


@dataclass(frozen=True)
class Entry:
    """One cached file: portable SPIR-V (.spv) or a driver's binary (.bin)."""

    path: Path
    size: int
    used: float
    kind: str


def folder() -> Path | None:
    """The user's cache folder; None when caching to disk is off."""
    return Path(C.cache_folder()) if C.cache_folder() else None


def shipped() -> Path:
    """The folder of SPIR-V that came with the wheel."""
    return Path(C.shipped_folder())


def list() -> builtins.list[Entry]:
    """The files, most recently used first."""
    where = folder()
    if where is None:
        return []
    kinds = {".spv": "SPIR-V", ".bin": "native"}
    found = [(p, p.stat()) for p in where.iterdir() if p.suffix in kinds]
    entries = [Entry(p, s.st_size, s.st_mtime, kinds[p.suffix]) for p, s in found]
    return sorted(entries, key=lambda e: -e.used)


def stats() -> dict[str, int]:
    """Files and bytes, by kind."""
    entries = list()
    counts = {}
    for kind in ("SPIR-V", "native"):
        sizes = [e.size for e in entries if e.kind == kind]
        counts[f"{kind} files"], counts[f"{kind} bytes"] = len(sizes), sum(sizes)
    return counts


def verify() -> builtins.list[Path]:
    """The files that are damaged; the runtime would treat each as a miss."""
    return [entry.path for entry in list() if not _sound(entry.path.read_bytes())]


def clear() -> int:
    """Removes every file; returns how many."""
    entries = list()
    for entry in entries:
        entry.path.unlink(missing_ok=True)
    return len(entries)


def _sound(data: bytes) -> bool:
    head = len(_MAGIC)
    return (
        data[:head] == _MAGIC
        and hashlib.sha256(data[head + 32 :]).digest() == data[head : head + 32]
    )
