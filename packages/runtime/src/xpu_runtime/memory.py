"""Device memory: one pool per device for every framework of the process, and one of pinned host memory.

Numbers are bytes unless a name says otherwise; `device` is an index, the current device by default.
"""

from __future__ import annotations

import csv
import os
import weakref
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ._native import C

__all__ = [
    "Pool",
    "empty_cache",
    "fail_allocation",
    "find",
    "host_empty_cache",
    "host_stats",
    "info",
    "limit",
    "log",
    "owners",
    "reset_accumulated",
    "reset_peak",
    "set_limit",
    "snapshot",
    "stats",
    "summary",
]


def _index(device: int | None) -> int:
    return C.current_device() if device is None else device


def stats(device: int | None = None) -> dict[str, int]:
    """Return every counter by PyTorch's flattened names: "allocated_bytes.all.current", "num_ooms", ...

    `.allocated - .freed == .current` for each. Names of owners follow: "owner.torch.peak".
    """
    return C.memory_stats(_index(device))


def owners(device: int | None = None) -> dict[str, int]:
    """Return bytes that each framework holds now, for all that ever held any."""
    prefix, suffix = "owner.", ".current"
    return {
        name[len(prefix) : -len(suffix)]: value
        for name, value in stats(device).items()
        if name.startswith(prefix) and name.endswith(suffix)
    }


def info(device: int | None = None) -> tuple[int, int]:
    """Return bytes free on the device and in all, for every process."""
    return C.memory_info(_index(device))


def reset_peak(device: int | None = None) -> None:
    """Let every `.peak` start again at `.current`."""
    C.memory_reset_peak(_index(device))


def reset_accumulated(device: int | None = None) -> None:
    """Reset to 0 the statistics that only grow: `.allocated`, `.freed` and the `num_` counters."""
    C.memory_reset_accumulated(_index(device))


def empty_cache(device: int | None = None) -> int:
    """Give unused memory back to the device, after waiting for the work that used it; return the bytes."""
    return C.empty_cache(_index(device))


def set_limit(limit: int, device: int | None = None) -> int:
    """Set the maximum that the pool may reserve, 0 for no limit; return the previous limit."""
    return C.memory_set_limit(_index(device), limit)


def limit(device: int | None = None) -> int:
    """Return the maximum that the pool may reserve; 0 if there is no limit but the device's own."""
    return C.memory_limit(_index(device))


def find(address: int) -> dict[str, Any] | None:
    """Return the block in use around an address: address, size, requested, device, stream, owner; or None."""
    return C.memory_find(address)


def host_stats() -> dict[str, int]:
    """Return the counters of the pool of pinned host memory."""
    return C.host_memory_stats()


def host_empty_cache() -> int:
    """Give unused pinned host memory back; return the bytes."""
    return C.host_empty_cache()


@contextmanager
def _closing_log() -> Iterator[None]:
    try:
        yield
    finally:
        C.memory_set_log("")


def log(path: str | os.PathLike[str] | None) -> Any:
    """Write a line of CSV for each allocate and free of device memory from now on; None stops.

    Also a context manager, which stops at its end.
    """
    C.memory_set_log("" if path is None else os.fspath(path))
    return _closing_log()


@contextmanager
def fail_allocation(k: int) -> Iterator[None]:
    """Within the `with` block the k-th allocation of device memory fails with OutOfMemory: for tests."""
    C.memory_fail_allocation(k)
    try:
        yield
    finally:
        C.memory_fail_allocation(0)


def _release(pool: int, devices: set[int], give_back: bool) -> None:
    for index in devices:
        C.memory_release_pool(index, pool, give_back)


class Pool:
    """Memory of its own, for what this thread allocates inside `with pool.use(device):`.

    It goes to nobody else, and not back to the device, before the pool object is gone; then it joins
    the common pool, or, with `give_back`, what is unused goes back to the device. Without `splits`,
    cached memory serves one allocation at a time, whatever its size.
    """

    def __init__(self, id: int | None = None, give_back: bool = False, splits: bool = True) -> None:
        """A new pool, or one more object for the pool of that number."""
        self.id: int = C.memory_create_pool(splits) if id is None else id
        self._devices: set[int] = set()
        weakref.finalize(self, _release, self.id, self._devices, give_back)

    @contextmanager
    def use(self, device: int | None = None) -> Iterator[Pool]:
        """Serve this thread's allocations on the device for the length of the block."""
        index = _index(device)
        C.memory_open_pool(index, self.id)
        self._opened(index)
        try:
            yield self
        finally:
            C.memory_close_pool(index, self.id)

    def _opened(self, device: int) -> None:
        if device in self._devices:
            C.memory_release_pool(device, self.id)  # one use for each device is enough
        self._devices.add(device)


# Lines of the allocation log, as the events of torch's memory_viz.
_EVENTS = {"allocate": ("alloc",), "free": ("free_requested", "free_completed")}


def _events(path: str | os.PathLike[str]) -> list[list[dict[str, Any]]]:
    devices: list[list[dict[str, Any]]] = [[] for _ in range(C.device_count())]
    with open(path, newline="") as file:
        for line in csv.DictReader(file):
            for action in _EVENTS.get(line["action"], ()):
                devices[int(line["device"])].append(
                    {
                        "action": action,
                        "addr": int(line["address"], 16),
                        "size": int(line["bytes"]),
                        "stream": int(line["stream"]),
                        "time_us": int(line["time_ns"]) // 1000,
                        "frames": _frames(line["owner"]),
                    }
                )
    return devices


def _frames(owner: str) -> list[dict[str, Any]]:
    return [{"name": owner, "filename": "owner", "line": 0}] if owner else []


def snapshot(log: str | os.PathLike[str] | None = None) -> dict[str, Any]:
    """Return all segments and blocks of all devices, in the form that torch's memory_viz reads.

    Owners show as stack frames. With the file that `log()` wrote, the history too, so that memory_viz
    can draw memory over time.
    """
    segments = C.memory_snapshot()
    for segment in segments:
        segment.update(frames=[], is_expandable=False)
        for block in segment["blocks"]:
            block["frames"] = _frames(block["owner"])
    traces = [[] for _ in range(C.device_count())] if log is None else _events(log)
    return {"segments": segments, "device_traces": traces, "allocator_settings": {}}


def _format_bytes(value: int) -> str:
    size = float(value)
    for unit in ("B", "KiB", "MiB", "GiB"):
        if abs(size) < 1024:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1024
    return f"{size:.1f} TiB"


_ROWS = {
    "allocated": "allocated_bytes.all",
    "  small blocks": "allocated_bytes.small_pool",
    "  large blocks": "allocated_bytes.large_pool",
    "asked for": "requested_bytes.all",
    "in use or awaited": "active_bytes.all",
    "reserved": "reserved_bytes.all",
    "split and unused": "inactive_split_bytes.all",
}


def summary(device: int | None = None) -> str:
    """Return the counters of one device as a table for people."""
    index = _index(device)
    counters = stats(index)
    rows = dict(_ROWS)
    rows.update({f"  by {name}": f"owner.{name}" for name in owners(index)})
    columns = ("current", "peak", "allocated", "freed")
    free, total = info(index)
    max_bytes = limit(index)
    lines = [
        f"Memory of device {index}: {_format_bytes(free)} free of {_format_bytes(total)}, "
        f"limit {_format_bytes(max_bytes) if max_bytes else 'none'}, "
        f"{counters['num_ooms']} times out of memory, {counters['num_alloc_retries']} retries",
        f"{'':<20}" + "".join(f"{column:>12}" for column in columns),
    ]
    for title, key in rows.items():
        values = (_format_bytes(counters[f"{key}.{column}"]) for column in columns)
        lines.append(f"{title:<20}" + "".join(f"{value:>12}" for value in values))
    for title, key in (("allocations", "allocation.all"), ("segments", "segment.all")):
        values = (str(counters[f"{key}.{column}"]) for column in columns)
        lines.append(f"{title:<20}" + "".join(f"{value:>12}" for value in values))
    return "\n".join(lines)
