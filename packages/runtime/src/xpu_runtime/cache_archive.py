"""The cache on disk as one file: for container images, and for clusters of machines that are alike."""

from __future__ import annotations

import gzip
import io
import json
import os
import secrets
import tarfile
import zlib
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path
from typing import Any, BinaryIO

from . import cache
from ._archive_members import Member, members
from ._device import devices
from ._native import C
from .errors import UsageError

# The first member of an archive: its form, the devices that its kernels are for, the bytes of all files.
# The last: the names of all files, so that the loss of one is noticed.
_ABOUT, _INDEX, _FORM = "about.json", "index.json", 2
_MAX_JSON = 1 << 26


@dataclass(frozen=True)
class Moved:
    """How many files and bytes were stored, and which damaged ones were left out."""

    files: int
    bytes: int
    damaged: list[str]


def export(file: str | os.PathLike[str]) -> Moved:
    """Write the sound files of the cache to a new archive. An existing file is an error."""
    _require_cache()
    entries = cache.list()
    damaged: list[str] = []
    stored: dict[str, int] = {}
    with open(file, "xb") as out:
        try:
            with tarfile.open(fileobj=out, mode="w:gz", compresslevel=6) as archive:
                size = sum(entry.size for entry in entries)
                _add_json(
                    archive, _ABOUT, {"form": _FORM, "devices": _own_devices(), "bytes": size}
                )
                for entry in entries:
                    if size := _add_entry(archive, entry.path):
                        stored[entry.path.name] = size
                    else:
                        damaged.append(entry.path.name)
                _add_json(archive, _INDEX, list(stored))
        except BaseException:
            os.unlink(file)  # half of an archive is of no use
            raise
    return Moved(len(stored), sum(stored.values()), damaged)


def import_(file: str | os.PathLike[str]) -> Moved:
    """Store the files of an archive in the user's cache; least recently used ones make room.

    `damaged` names the files that the archive should have and has not, or not whole. Raises UsageError for
    what is no archive or is damaged such that it cannot be read to its end, for one of other devices or
    drivers, and for one that does not fit into the cache. Kernels are code: import only what you trust.
    """
    where = _require_cache()
    stored: dict[str, int] = {}
    named: list[str] | None = None
    total = 0
    try:
        with gzip.open(file) as stream:
            archive = members(stream)
            _require_fit(file, _about(file, next(archive, None)))
            for member in archive:
                if member.name == _INDEX:
                    named = _index(file, member)
                    continue
                if not cache.is_cache_file_name(member.name):
                    raise UsageError(f"{file}: got a member {member.name!r}, expected cached files")
                total += member.size
                _require_fit(file, total)
                if _store(where, member):
                    stored[member.name] = member.size
        if named is None:
            raise EOFError("it has no list of its files")
    except (EOFError, zlib.error, gzip.BadGzipFile) as error:
        so_far = f" ({len(stored)} sound files were imported)" if stored else ""
        raise UsageError(
            f"{file} is damaged or no archive of a cache: {error}{so_far}. Export it again"
        ) from None
    finally:
        C.evict_cache()
    return Moved(len(stored), sum(stored.values()), sorted(set(named) - stored.keys()))


def _own_devices() -> list[list[str]]:
    """Return backend, name and driver of this machine's devices, and a CPU's features; each kind once."""
    return [list(kind) for kind in sorted({_kind(device) for device in devices()})]


def _kind(device: Any) -> tuple[str, ...]:
    kind = device.backend, device.name, device.driver_version
    return (*kind, f"with CPU features {C.cpu_feature_digits()}") if device.type == "cpu" else kind


def _require_cache() -> Path:
    where = cache.folder()
    if where is None:
        raise UsageError("the kernel cache is off")
    return where


def _add_json(archive: tarfile.TarFile, name: str, value: Any) -> None:
    data = json.dumps(value).encode()
    _add(archive, name, len(data), io.BytesIO(data))


def _add(archive: tarfile.TarFile, name: str, size: int, data: BinaryIO) -> None:
    member = tarfile.TarInfo(name)
    member.size, member.mode = size, 0o600
    archive.addfile(member, data)


def _add_entry(archive: tarfile.TarFile, path: Path) -> int:
    """Add a cached file and return its size; return 0 if it is damaged, or evicted meanwhile."""
    with suppress(OSError):
        if path.is_file():
            with path.open("rb") as data:
                if cache.is_sound(path.name, data):
                    size = data.tell()
                    data.seek(0)
                    _add(archive, path.name, size, data)
                    return size
    return 0


def _store(where: Path, member: Member) -> bool:
    """Write a member to the cache, if it is sound; return whether it is. Keeps little of it in memory."""
    if not member.is_file:
        return False
    beside = where / f"{member.name}.{secrets.token_hex(3)}.part"
    try:
        with open(beside, "xb+", opener=_open_private) as file:
            while part := member.read(1 << 20):
                if file.tell() == 0 and not part.startswith(cache.MAGIC):
                    return False
                file.write(part)
            file.seek(0)
            if not cache.is_sound(member.name, file):
                return False
        os.replace(beside, where / member.name)
        return True
    finally:
        beside.unlink(missing_ok=True)


def _open_private(path: str, flags: int) -> int:
    return os.open(path, flags, 0o600)


def _json(file: Any, member: Member, what: str) -> Any:
    try:
        if member.is_file and member.size <= _MAX_JSON:
            return json.loads(member.read(member.size))
    except (ValueError, RecursionError):
        pass
    raise UsageError(f"{file}: {what} is damaged. Export it again")


def _about(file: Any, member: Member | None) -> int:
    """Check what the first member says of an archive; return the bytes of its files."""
    if member is None or member.name != _ABOUT:
        raise UsageError(f"{file} is no archive of a cache")
    about = _json(file, member, _ABOUT)
    try:
        form, size = about["form"], about.get("bytes", 0)
        kinds = [list(map(str, kind)) for kind in about["devices"]]
    except (KeyError, TypeError, AttributeError):
        raise UsageError(f"{file} is no archive of a cache") from None
    if form != _FORM or not isinstance(size, int):
        raise UsageError(
            f"{file}: got an archive of form {form}, expected {_FORM}. Export it again"
        )
    own = _own_devices()
    if not any(kind in kinds for kind in own):
        raise UsageError(f"{file} is for {_named(kinds)}; this machine has {_named(own)}")
    return size


def _index(file: Any, member: Member) -> list[str]:
    names = _json(file, member, "the list of its files")
    if not isinstance(names, list):
        raise UsageError(f"{file}: the list of its files is damaged. Export it again")
    return list(map(str, names))


def _require_fit(file: Any, size: int) -> None:
    """Raise UsageError if the files would not stay: a full cache is reduced to nine tenths of its limit."""
    if size > C.cache_limit() * 9 // 10:
        raise UsageError(
            f"{file} has {size} bytes of files, more than nine tenths of what the cache may take "
            f"({C.cache_limit()}). Set XPU_CACHE_SIZE to {size * 10 // 9 + 1} or more"
        )


def _named(kinds: list[list[str]]) -> str:
    return ", ".join(" ".join(kind) for kind in kinds)
