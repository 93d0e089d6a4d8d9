"""Which processes build kernels for another."""

from collections.abc import Iterator
from pathlib import Path


def _processes(cache: str) -> Iterator[tuple[int, str]]:
    """The numbers and names of those that use this cache."""
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if f"XPU_CACHE_DIR={cache}\0".encode() in (folder / "environ").read_bytes():
                yield int(folder.name), (folder / "comm").read_text().strip()
        except OSError:
            continue  # not a process, or one that has ended meanwhile


def helper_processes(cache: str) -> list[int]:
    """Those of the process that uses this cache."""
    return [pid for pid, name in _processes(cache) if name.startswith("xpu-build-kern")]


def watchers(cache: str) -> list[int]:
    """The processes that wait for the helpers."""
    return [pid for pid, name in _processes(cache) if name == "xpu-watch-build"]


def zombies_of(parent: int) -> list[str]:
    """The names of ended children that this process has not waited for."""
    found = []
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            name, fields = (folder / "stat").read_text().split("(", 1)[1].rsplit(")", 1)
        except (OSError, IndexError):
            continue
        if fields.split()[:2] == ["Z", str(parent)]:
            found.append(name)
    return found
