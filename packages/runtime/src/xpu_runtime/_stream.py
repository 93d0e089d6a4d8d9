"""Streams order work on a device; events mark points in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from ._native import C

if TYPE_CHECKING:

    class Stream:
        """An in-order queue of one device."""

        device: int
        id: int
        priority: int
        queue_pointer: int
        handle: int

        def __init__(self, device: int = -1, *, priority: int = 0) -> None: ...
        def query(self) -> bool: ...
        def synchronize(self) -> None: ...
        def wait(self, event_or_stream: object) -> None: ...
        def is_capturing(self) -> bool: ...
else:
    Stream = C.Stream


class Event:
    """A point in a stream's work, to wait for or (with `timing=True`) to time."""

    def __init__(self, timing: bool = False) -> None:
        self._event = C.Event(timing)

    def record(self, stream: Stream | None = None) -> Event:
        """Record the stream's pending work; recording again moves the event. Never blocks."""
        self._event.record(stream or current_stream())
        return self

    def wait(self, stream: Stream | None = None) -> None:
        """Let later work on the stream wait for the event. The host does not wait."""
        (stream or current_stream()).wait(self._event)

    def query(self) -> bool:
        """Return True if the event has completed or was never recorded."""
        return self._event.query()

    def synchronize(self) -> None:
        """Block until the event has completed; raise for work that failed. Ctrl-C ends the wait."""
        self._event.synchronize()

    def elapsed_ms(self, end: Event) -> float:
        """Return device milliseconds from this event to `end`; both must be timed and completed."""
        return self._event.elapsed_ms(end._event)


class stream:  # noqa: N801 - used as a function: `with xr.stream(s)`, as in PyTorch
    """A `with` block in which a stream, and its device, is current for the calling thread."""

    def __init__(self, to: Stream) -> None:
        self._to = to

    def __enter__(self) -> Stream:
        self._device = C.exchange_device(self._to.device)
        self._before = C.exchange_stream(self._to)
        return self._to

    def __exit__(self, *_: object) -> None:
        C.exchange_stream(self._before)
        C.exchange_device(self._device)


def current_stream(device: int | None = None) -> Stream:
    """Return the calling thread's stream on the device."""
    return C.current_stream(C.current_device() if device is None else device)


def default_stream(device: int | None = None) -> Stream:
    """Return the stream that every framework starts on."""
    return C.default_stream(C.current_device() if device is None else device)


def stream_of_handle(handle: int) -> Stream:
    """Return the stream whose `handle` this is; raise UsageError if there is none in this process."""
    return C.stream_of_handle(handle)
