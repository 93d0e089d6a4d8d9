"""The functions behind ``torch.xpu.memory``."""

from __future__ import annotations

from typing import Any

from . import _history


def _runtime():
    import xpu_runtime

    return xpu_runtime.memory


# PyTorch's counters of what this pool does not do.
_NEVER: dict[str, Any] = {
    "num_sync_all_streams": 0,
    "max_split_size": 0,
    "oversize_allocations": dict.fromkeys(("current", "peak", "allocated", "freed"), 0),
    "oversize_segments": dict.fromkeys(("current", "peak", "allocated", "freed"), 0),
}


def stats(device: int) -> dict[str, Any]:
    """Return counters as nested dictionaries, by PyTorch's keys and, under "owner", by framework."""
    nested: dict[str, Any] = {}
    for name, value in _runtime().stats(device).items():
        at = nested
        *path, last = name.split(".")
        for part in path:
            at = at.setdefault(part, {})
        at[last] = value
    return nested | _NEVER


def empty_cache() -> None:
    """Give unused memory of every device back to the driver."""
    import xpu_runtime

    for device in range(xpu_runtime.device_count()):
        _runtime().empty_cache(device)


def info(device: int) -> tuple[int, int]:
    """Return bytes free on the device and in all."""
    return _runtime().info(device)


def used(device: Any = None) -> int:
    """Return bytes in use on the device, by every process: ``torch.xpu.device_memory_used()``."""
    import torch

    free, total = info(torch.xpu._utils._get_device_index(device, optional=True))
    return total - free


def reset_peak(device: int) -> None:
    """Let every peak start again at the current value."""
    _runtime().reset_peak(device)


def reset_accumulated(device: int) -> None:
    """Set the totals back to 0."""
    _runtime().reset_accumulated(device)


def set_fraction(fraction: float, device: int) -> None:
    """Limit the pool to a part of the device's memory."""
    if not 0 <= fraction <= 1:
        raise ValueError(f"the fraction is {fraction}, expected 0 to 1")
    _, total = info(device)
    _runtime().set_limit(0 if fraction == 1 else max(1, int(total * fraction)), device)


def fraction(device: int) -> float:
    """Return the part of the device's memory that the pool may reserve."""
    limit, (_, total) = _runtime().limit(device), info(device)
    return min(1.0, limit / total) if limit else 1.0


def snapshot(pool: tuple[int, int] | None = None) -> dict[str, Any]:
    """Return segments and blocks, as memory_viz reads them; those of one private pool when it is named."""
    whole = _runtime().snapshot()
    _history.add_to(whole)
    if pool is not None:
        whole["segments"] = [
            s for s in whole["segments"] if tuple(s["segment_pool_id"]) == tuple(pool)
        ]
    return whole


def summary(device: Any = None, abbreviated: bool = False) -> str:
    """Return a table of the pool's counters and each framework's memory: ``torch.xpu.memory_summary()``."""
    import torch

    index = torch.xpu._utils._get_device_index(device, optional=True)
    return _runtime().summary(index)
