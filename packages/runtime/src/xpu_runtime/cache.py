"""The cache on disk: list, verify and clear its files, and store entries of adapters."""

from __future__ import annotations

import builtins
import hashlib
import os
import re
from collections.abc import Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import BinaryIO, NamedTuple

from ._native import C
from .errors import UsageError

MAGIC, _OLDER_MAGIC = b"XPUCACHE2\n", b"XPUCACHE1\n"
_KERNELS = {"spv": "SPIR-V", "bin": "native", "mark": "kept by the driver"}
# What adapters call the kinds of their entries.
_KIND = re.compile(r"[a-z_]{1,16}")
# The folder may hold files of the user's own: only these names are the cache's.
_NAME = re.compile(rf"[0-9a-f]{{64}}\.({'|'.join(_KERNELS)}|({_KIND.pattern})\.entry)")
# Unfinished files of writers that were killed, and sources that a compiler crashed on.
_LEFTOVER = re.compile(_NAME.pattern + r"\.\w{6}\.part|xpu-died-[0-9a-f]{16}\..*")


@dataclass(frozen=True)
class Entry:
    """One cached file.

    `kind` is "SPIR-V", "native" for a driver's binary, "kept by the driver" for the mark that it has one in
    its own cache, or an adapter's own kind.
    """

    path: Path
    size: int
    used: float
    kind: str


def folder() -> Path | None:
    """Return the user's cache folder; None if caching to disk is off."""
    return Path(C.cache_folder()) if C.cache_folder() else None


def list() -> builtins.list[Entry]:
    """Return the files, most recently used first."""
    where = folder()
    if where is None:
        return []
    return sorted(_entries(where), key=lambda e: -e.used)


def _entries(where: Path) -> Iterator[Entry]:
    """Yield the files; those that other processes evict meanwhile are left out."""
    with suppress(FileNotFoundError):
        for path in where.iterdir():
            with suppress(FileNotFoundError):
                about = path.lstat()
                if named := _NAME.fullmatch(path.name):
                    kind = named[2] or _KERNELS[named[1]]
                    yield Entry(path, about.st_size, about.st_mtime, kind)


def is_cache_file_name(name: str) -> bool:
    """Return True for the name of a cached file: 64 hexadecimal digits and a kind."""
    return _NAME.fullmatch(name) is not None


def stats() -> dict[str, int]:
    """Return the number of files and of bytes, by kind."""
    entries = list()
    counts = {}
    for kind in dict.fromkeys(["SPIR-V", "native", *sorted(e.kind for e in entries)]):
        sizes = [e.size for e in entries if e.kind == kind]
        counts[f"{kind} files"], counts[f"{kind} bytes"] = len(sizes), sum(sizes)
    return counts


def verify() -> builtins.list[Path]:
    """Return the damaged files; the runtime treats each as a miss."""
    return [entry.path for entry in list() if not _is_sound(entry.path)]


class Answer(NamedTuple):
    """What a place where builds look for a kernel answers about `wanted`: "SPIR-V", or what it becomes."""

    wanted: str
    store: str
    found: bool
    answer: str


def explain(
    source: str,
    options: Sequence[str] = (),
    sub_group_size: int = 0,
    device: int | None = None,
) -> builtins.list[Answer]:
    """Return where a build of a kernel's source would find it now, and why not elsewhere.

    The source may also be the text of a file that ``XPU_DUMP_KERNELS`` wrote. The first place that has what
    is wanted serves; a kernel whose native code is nowhere is built at its next first use.
    """
    chosen = C.current_device() if device is None else device
    answers = C.explain_kernel(chosen, source, [*options], sub_group_size)
    return [Answer(*answer) for answer in answers]


def read(key: str, kind: str) -> bytes | None:
    """Return what an adapter wrote under a key; None if it is missing or damaged, or caching is off.

    `kind` is a word of the adapter's choice: up to 16 of the letters a to z and _.
    """
    return C.cache_read(_file(key, kind))


def write(key: str, kind: str, payload: bytes) -> None:
    """Store `payload` for this and later processes; the least recently used files are evicted."""
    C.cache_write(_file(key, kind), payload)


def _file(key: str, kind: str) -> str:
    if not _KIND.fullmatch(kind):
        raise UsageError(
            f"cache: got the kind {kind!r}, expected 1 to 16 of the letters a to z and _"
        )
    return f"{hashlib.sha256(key.encode()).hexdigest()}.{kind}.entry"


def clear() -> int:
    """Remove every cached file and leftovers of killed processes; return the number of kernels and plans.

    Other files in the folder stay.
    """
    entries = list()
    where = folder()
    leftovers = (
        [path for path in where.iterdir() if _LEFTOVER.fullmatch(path.name)] if where else []
    )
    for path in [entry.path for entry in entries] + leftovers:
        if path.is_dir() and not path.is_symlink():
            continue  # not ours
        path.unlink(missing_ok=True)
    return len(entries)


def _is_sound(path: Path) -> bool:
    try:
        if not path.is_file():
            return not os.path.lexists(path)
        with path.open("rb") as file:
            if file.read(len(_OLDER_MAGIC)) == _OLDER_MAGIC:
                return True  # of an older version: nothing reads it, until it is evicted
            file.seek(0)
            return is_sound(path.name, file)
    except FileNotFoundError:
        return True  # evicted by another process
    except OSError:
        return False


def is_sound(name: str, file: BinaryIO) -> bool:
    """Return True if an open file has what was written under this name: magic, digest and payload.

    The digest is of the name too, so that no file serves under the name of another.
    """
    if file.read(len(MAGIC)) != MAGIC:
        return False
    expected = file.read(hashlib.sha256().digest_size)
    digest = hashlib.sha256(name.encode() + b"\n")
    while part := file.read(1 << 20):
        digest.update(part)
    return digest.digest() == expected
