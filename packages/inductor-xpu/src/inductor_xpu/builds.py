"""Builds of kernels in the background. Imports nothing of Inductor, which launches of Triton do not need."""

from __future__ import annotations

import os
from concurrent.futures import Future, ThreadPoolExecutor
from functools import cache
from typing import Any
from weakref import WeakValueDictionary

import xpu_runtime as xr
from xpu_runtime import faults as kernel_faults
from xpu_runtime.codegen.comments import without_comments

# The runtime's helper processes build; a thread waits for each build.
_WAITING = 8


@cache
def _pool() -> ThreadPoolExecutor:
    return ThreadPoolExecutor(_WAITING, thread_name_prefix="inductor_xpu")


# Builds that a graph which is being compiled, or a launcher's future, refers to.
_builds: WeakValueDictionary[tuple[str, int, str], Future[Any]] = WeakValueDictionary()


# The sources of kernels that compiled graphs have loaded, with a device of each.
_loaded: dict[str, int] = {}


def note_loaded(device: int, source: str) -> None:
    """Remember the source of a kernel, which the graph's code holds anyway."""
    _loaded[source] = device


def loaded_sources() -> dict[str, int]:
    """Return the sources of all kernels that compiled graphs have loaded, with a device of each."""
    return {without_comments(source): device for source, device in _loaded.items()}


def _forget_threads() -> None:
    """Forget the parent's threads, so that a forked child gets the runtime's error instead of a wait."""
    _pool.cache_clear()
    _builds.clear()


os.register_at_fork(after_in_child=_forget_threads)


def start_build(name: str, device: int, source: str) -> Future[Any]:
    """Return the future of a kernel; for equal ones the same, as long as something refers to it.

    A build that failed, as for a full disk, is tried again.
    """
    plain = without_comments(source)
    key = name, device, plain
    build = _builds.get(key)
    if build is None or (build.done() and build.exception()):
        build = _builds[key] = _pool().submit(_build, name, device, plain)
    return build


def load_faults(device: int, faults: tuple[tuple[str, str], ...]) -> tuple[int, ...]:
    """Return the arguments of a kernel's checks: the device's record, and a code for each fault."""
    codes = (kernel_faults.code(op, text) for op, text in faults)
    return (kernel_faults.record(device), *codes)


def _build(name: str, device: int, source: str) -> Any:
    return xr.compile(source, device=device).kernel(name)
