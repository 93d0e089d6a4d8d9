"""One trace of everything: launches, copies, oneDNN calls, allocations, compiles, the user's own spans."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from ._native import C

_ON_DEVICE = {"kernel", "copy", "fill", "dnn", "graph", "marker"}


def start() -> None:
    """Start recording; wait for all streams first."""
    C.trace_start()


def stop() -> list[Any]:
    """Stop, and return the records, ordered by host time. Times are ns of the steady clock."""
    return C.trace_stop()


def active() -> bool:
    """Return True while recording."""
    return C.trace_active()


@contextmanager
def span(name: str) -> Iterator[None]:
    """Mark a phase of the host in the trace."""
    mark = C.Span(name)
    try:
        yield
    finally:
        del mark


@contextmanager
def record(path: str | os.PathLike[str]) -> Iterator[None]:
    """Record the block and write a Chrome trace, for chrome://tracing or ui.perfetto.dev."""
    path = Path(path).absolute()  # the block may change the working directory
    start()
    try:
        yield
    finally:
        save(path, stop())


def save(path: str | os.PathLike[str], records: list[Any]) -> None:
    """Write records as a Chrome trace."""
    Path(path).write_text(
        json.dumps({"traceEvents": chrome_events(records), "displayTimeUnit": "ns"})
    )


def chrome_events(records: list[Any]) -> list[dict[str, Any]]:
    """Chrome trace events: host rows by thread, device rows by stream, arrows between, memory counters."""
    pid, events = os.getpid(), []
    for r in records:
        kind = r.kind.name
        args = {"correlation": r.correlation, "bytes": r.bytes, "kind": kind}
        host = {
            "name": r.name,
            "cat": kind,
            "ph": "X",
            "pid": pid,
            "tid": r.thread,
            "ts": r.host_begin / 1e3,
        }
        events.append({**host, "dur": (r.host_end - r.host_begin) / 1e3, "args": args})
        if kind in ("allocate", "free"):
            counter = {
                "name": f"xpu:{r.device} allocated",
                "ph": "C",
                "pid": pid,
                "ts": r.host_begin / 1e3,
            }
            events.append({**counter, "args": {"bytes": r.counter}})
        elif kind in _ON_DEVICE and r.device_end:
            where = {"pid": f"xpu:{r.device}", "tid": f"stream {r.stream}"}
            work = {"name": r.name, "cat": kind, "ph": "X", **where, "ts": r.device_begin / 1e3}
            events.append({**work, "dur": (r.device_end - r.device_begin) / 1e3, "args": args})
            flow = {"name": "launch", "cat": "launch", "id": r.correlation}
            events.append(
                {**flow, "ph": "s", "pid": pid, "tid": r.thread, "ts": r.host_begin / 1e3}
            )
            events.append({**flow, "ph": "f", "bp": "e", **where, "ts": r.device_begin / 1e3})
    return events
