"""Kernel cache: the folder belongs to the user, is writable and has no damaged files."""

from __future__ import annotations

import os
import shutil
from collections.abc import Iterator
from contextlib import suppress
from pathlib import Path

from .. import printing
from .finding import Finding


def check() -> Iterator[Finding]:
    """Check the folder, its permissions, its files and the free space of its disk."""
    folder = chosen_folder()
    if os.environ.get("XPU_CACHE_SIZE") == "0":
        yield Finding(
            "kernel cache", "note", "turned off by XPU_CACHE_SIZE=0", "unset XPU_CACHE_SIZE"
        )
        return
    if folder is None:
        fix = "export XPU_CACHE_DIR=a folder of your own"
        yield Finding("kernel cache", "fail", "no folder for it: HOME is not set", fix)
        return
    yield _permissions(folder)
    if not folder.is_dir():
        return
    taken = _sizes(folder)
    yield Finding(
        "cached kernels", "ok", f"{len(taken)} files, {printing.format_bytes(sum(taken))}"
    )
    yield _verify()
    free = shutil.disk_usage(folder).free
    if free < 64 * 2**20:
        yield Finding(
            "disk", "fail", f"{printing.format_bytes(free)} free at {folder}", "xpu-sdk cache clear"
        )


def can_store() -> bool:
    """Return True if kernels that are built now will be found by later processes."""
    folder = chosen_folder()
    if folder is None or os.environ.get("XPU_CACHE_SIZE") == "0":
        return False
    return _permissions(folder).state == "ok"


def _sizes(folder: Path) -> list[int]:
    sizes = []
    for path in folder.iterdir():
        if path.suffix in (".spv", ".bin", ".entry"):
            with suppress(FileNotFoundError):  # another process may have evicted it
                sizes.append(path.stat().st_size)
    return sizes


def chosen_folder() -> Path | None:
    """Return the cache folder of the runtime, also if the runtime rejects it and so does not report it."""
    if named := os.environ.get("XPU_CACHE_DIR"):
        return Path(named)
    home = os.environ.get("XDG_CACHE_HOME") or (
        os.environ.get("HOME") and f"{os.environ['HOME']}/.cache"
    )
    return Path(home) / "xpu-sdk" / "kernels" if home else None


def _permissions(folder: Path) -> Finding:
    if not folder.exists():
        parent = next(p for p in folder.parents if p.exists())
        if os.access(parent, os.W_OK):
            return Finding("kernel cache", "ok", f"{folder}, created at the first use")
        fix = f"sudo chown -R $USER {parent}, or: export XPU_CACHE_DIR=a folder of your own"
        return Finding("kernel cache", "fail", f"cannot be created: {parent} is not writable", fix)
    if not folder.is_dir():
        return Finding("kernel cache", "fail", f"{folder} is not a folder", f"rm {folder}")
    about = folder.stat()
    if about.st_uid != os.geteuid():
        fix = f"sudo chown -R $USER {folder}"
        return Finding("kernel cache", "fail", f"{folder} belongs to user {about.st_uid}", fix)
    if about.st_mode & 0o022:
        fix = f"chmod 700 {folder}"
        return Finding(
            "kernel cache", "fail", f"others may write {folder}: cached kernels are code", fix
        )
    if not os.access(folder, os.W_OK):
        return Finding("kernel cache", "fail", f"{folder} is read-only", f"chmod u+w {folder}")
    return Finding("kernel cache", "ok", str(folder))


def _verify() -> Finding:
    from xpu_runtime import cache

    damaged = cache.verify()
    if not damaged:
        return Finding("cached files", "ok", "every checksum is right")
    names = ", ".join(path.name for path in damaged[:3])
    return Finding(
        "cached files", "fail", f"{len(damaged)} damaged: {names}", "xpu-sdk cache clear"
    )
