"""Print the memory that the chosen tests need; run none if it is not free, since the machine would stall."""

from __future__ import annotations

import pytest
from xpu_testing import free_memory

GIB = 2**30


def pytest_configure(config: pytest.Config) -> None:
    config.addinivalue_line("markers", "memory(gib): takes up to so many GiB in all its processes")


def pytest_collection_finish(session: pytest.Session) -> None:
    needs = {item.path.stem: needed_gib(item) for item in session.items}
    needed = max(needs.values(), default=0)
    free = free_memory.free_memory() / GIB
    about = f"soak: needs up to {needed} GiB of memory, {free:.1f} GiB are free"
    print(about, flush=True)
    if free < needed and not session.config.option.collectonly:
        each = ", ".join(f"{name} {gib}" for name, gib in needs.items())
        what_to_do = f"end other programs, or choose tests that need less with -k ({each})"
        pytest.exit(f"{about}: {what_to_do}", returncode=2)


def needed_gib(item: pytest.Item) -> float:
    """Return the argument of the test's mark; a test without one is an error."""
    mark = item.get_closest_marker("memory")
    if mark is None:
        raise pytest.UsageError(f"{item.nodeid}: has no mark memory(gib)")
    return mark.args[0]
