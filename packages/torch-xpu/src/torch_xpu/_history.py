"""The functions behind ``torch.xpu.memory._record_memory_history`` and its snapshots."""

from __future__ import annotations

from typing import Any

ACTIONS = (
    "alloc",
    "free_requested",
    "free_completed",
    "segment_alloc",
    "segment_free",
    "segment_map",
    "segment_unmap",
    "snapshot",
    "oom",
)


def _choice(name: str, value: Any, *expected: Any) -> None:
    if value not in expected:
        raise ValueError(f"{name}: got {value!r}, expected one of {', '.join(map(repr, expected))}")


def record(
    enabled: str | None,
    context: str | None,
    stacks: str,
    max_entries: int,
    clear_history: bool,
    skip_actions: list[str],
) -> None:
    """Start or, with None, stop recording what happens to the memory of every framework."""
    from . import _device

    _choice("enabled", enabled, None, "state", "all")
    _choice("context", context, None, "state", "alloc", "all")
    _choice("stacks", stacks, "python", "all")
    for action in skip_actions:
        _choice("skip_actions", action, *ACTIONS)
    if enabled is None:
        _device.stop_history()
        return
    _device.record_history(
        events=enabled == "all",
        context=context or "none",
        cpp=stacks == "all",
        max_entries=max_entries,
        clear=clear_history,
        skipped=set(skip_actions),
    )


def add_to(snapshot: dict[str, Any]) -> None:
    """Add the events, and the frames that allocated living blocks, to a snapshot of the pool."""
    from . import _device

    snapshot["device_traces"], frames = _device.history()
    for segment in snapshot["segments"]:
        for block in segment["blocks"]:
            if block["state"] != "inactive" and block["address"] in frames:
                block["frames"] = frames[block["address"]]
    snapshot["external_annotations"] = []
