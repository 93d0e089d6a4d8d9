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
        """Marks the point the stream has reached; recording again moves it."""
        self._event.record(stream or current_stream())
        return self

    def wait(self, stream: Stream | None = None) -> None:
        """Later work on the stream waits, on the device, for this point."""
        (stream or current_stream()).wait(self._event)

    def query(self) -> bool:
        """Return True if the event has completed or was never recorded."""
        return self._event.query()

    def synchronize(self) -> None:
        """Waits on the host; raises for work that failed."""
        self._event.synchronize()

    def elapsed_ms(self, end: Event) -> float:
        """Device milliseconds from this event to `end`; both must be timed and reached."""
        return self._event.elapsed_ms(end._event)


class stream:
    """Makes a stream, and its device, current for the length of a `with` block."""

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
    """The calling thread's stream on the device."""
    return C.current_stream(C.current_device() if device is None else device)


def default_stream(device: int | None = None) -> Stream:
    """The stream that every framework starts on."""
    return C.default_stream(C.current_device() if device is None else device)
