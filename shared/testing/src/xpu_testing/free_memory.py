"""Memory that this process may still allocate, by the machine and by its cgroups."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

# By version of cgroups: the files of a group's limit and usage, and the reclaimable field of its statistics.
_FILES = {
    1: ("memory.limit_in_bytes", "memory.usage_in_bytes", "total_inactive_file"),
    2: ("memory.max", "memory.current", "inactive_file"),
}


def free_memory(root: Path = Path("/")) -> int:
    """Return free bytes. `root` is the folder of proc and sys."""
    return min([_of_machine(root), *_of_groups(root)])


def _of_machine(root: Path) -> int:
    for line in (root / "proc/meminfo").read_text().splitlines():
        if line.startswith("MemAvailable:"):
            return int(line.split()[1]) * 1024
    raise RuntimeError("/proc/meminfo has no line MemAvailable")


def _of_groups(root: Path) -> Iterator[int]:
    """Yield the free bytes of each group that has a limit, from the process's own to the outermost."""
    for line in (root / "proc/self/cgroup").read_text().splitlines():
        _, controllers, inner = line.split(":", 2)
        if controllers in ("", "memory"):
            version = 1 if controllers else 2
            top = root / "sys/fs/cgroup" / controllers
            own = top / inner.lstrip("/")
            for group in (own, *own.parents):
                yield from _of_group(group, version)
                if group == top:
                    break


def _of_group(group: Path, version: int) -> Iterator[int]:
    limit, usage, reclaimable = _FILES[version]
    if not (group / limit).exists():
        return  # the outermost group has no limit; a container does not see the outer ones
    limit_text = (group / limit).read_text().strip()
    if limit_text == "max":
        return
    statistics = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
    used = int((group / usage).read_text()) - int(statistics.get(reclaimable, 0))
    yield int(limit_text) - used
