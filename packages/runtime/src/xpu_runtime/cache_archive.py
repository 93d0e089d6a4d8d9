"""The cache on disk as one file: for container images, and for clusters of machines that are alike."""

from __future__ import annotations

import gzip
import hashlib
import io
import json
import os
import tarfile
import zlib
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from . import cache
from ._device import devices
from ._native import C
from .errors import UsageError

# The first member of an archive: its form, and the devices that its kernels are for.
_ABOUT, _FORM = "about.json", 1
_MAX_ABOUT, _MAX_FILE = 1 << 20, 1 << 30
_HEAD = len(cache.MAGIC) + hashlib.sha256().digest_size


@dataclass(frozen=True)
class Moved:
    """How many files and bytes were stored, and which damaged ones were left out."""

    files: int
    bytes: int
    damaged: list[str]


def export(file: str | os.PathLike[str]) -> Moved:
    """Write the sound files of the cache to a new archive. An existing file is an error."""
    _require_cache()
    damaged: list[str] = []
    stored: list[int] = []
    with open(file, "xb") as out:
        try:
            with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as archive:
                about = {"form": _FORM, "devices": _own_devices()}
                _add(archive, _ABOUT, json.dumps(about).encode())
                for entry in cache.list():
                    data = _contents(entry.path)
                    if data is None:
                        damaged.append(entry.path.name)
                    else:
                        _add(archive, entry.path.name, data)
                        stored.append(len(data))
        except BaseException:
            os.unlink(file)  # half of an archive is of no use
            raise
    return Moved(len(stored), sum(stored), damaged)


def import_(file: str | os.PathLike[str]) -> Moved:
    """Store the files of an archive in the user's cache.

    Raises UsageError for what is no archive, and for one of other devices or drivers. Kernels are code:
    import only what you trust.
    """
    where = _require_cache()
    damaged: list[str] = []
    stored: list[int] = []
    try:
        with tarfile.open(file, "r:gz") as archive:
            _require_own_devices(file, _about(file, archive))
            for member in archive:
                if member.name == _ABOUT:
                    continue
                if not cache.is_cache_file_name(member.name):
                    raise UsageError(f"{file}: got a member {member.name!r}, expected cached files")
                data = _member(archive, member)
                if data is None or not cache.is_sound(data):
                    damaged.append(member.name)
                    continue
                C.cache_write(member.name, data[_HEAD:])
                if not (where / member.name).is_file():
                    raise OSError(f"{where / member.name} could not be written")
                stored.append(len(data))
    except (tarfile.TarError, EOFError, zlib.error, gzip.BadGzipFile) as error:
        raise UsageError(f"{file} is damaged or no archive of a cache: {error}") from None
    return Moved(len(stored), sum(stored), damaged)


def _own_devices() -> list[list[str]]:
    """Return backend, name and driver of the devices of this machine, each kind once."""
    kinds = {(d.backend, d.name, d.driver_version) for d in devices()}
    return [list(kind) for kind in sorted(kinds)]


def _require_cache() -> Path:
    where = cache.folder()
    if where is None:
        raise UsageError("the kernel cache is off")
    return where


def _add(archive: tarfile.TarFile, name: str, data: bytes) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = len(data), 0o600
    archive.addfile(member, io.BytesIO(data))


def _contents(path: Path) -> bytes | None:
    """Return a cached file's bytes; None if it is damaged, or evicted meanwhile."""
    try:
        data = path.read_bytes() if path.is_file() else b""
    except OSError:
        return None
    return data if cache.is_sound(data) else None


def _member(archive: tarfile.TarFile, member: tarfile.TarInfo) -> bytes | None:
    """Return a member's bytes; None if it is no ordinary file."""
    file = archive.extractfile(member) if member.isfile() and member.size <= _MAX_FILE else None
    return None if file is None else file.read()


def _about(file: Any, archive: tarfile.TarFile) -> list[list[str]]:
    """Return the devices that an archive is for."""
    member = archive.next()
    if member is None or member.name != _ABOUT or member.size > _MAX_ABOUT:
        raise UsageError(f"{file} is no archive of a cache")
    try:
        about = json.loads(_member(archive, member) or b"")
        form, kinds = about["form"], [list(map(str, kind)) for kind in about["devices"]]
    except (ValueError, KeyError, TypeError):
        raise UsageError(f"{file} is no archive of a cache") from None
    if form != _FORM:
        raise UsageError(f"{file}: got an archive of form {form}, expected {_FORM}")
    return kinds


def _require_own_devices(file: Any, kinds: list[list[str]]) -> None:
    own = _own_devices()
    if not any(kind in kinds for kind in own):
        raise UsageError(f"{file} is for {_named(kinds)}; this machine has {_named(own)}")


def _named(kinds: list[list[str]]) -> str:
    return ", ".join(" ".join(kind) for kind in kinds)
