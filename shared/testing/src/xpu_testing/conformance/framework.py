"""What the conformance tests ask of a framework."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol


class Framework(Protocol):
    """Streams, events and memory as one framework names them."""

    #: What it raises when memory runs out.
    out_of_memory: type[Exception]

    def stream(self) -> Any:
        """Return a stream that is not the default one."""

    def default_stream(self) -> Any:
        """Return the stream that is current in a new thread."""

    def current_stream(self) -> Any:
        """Return the calling thread's stream, set by :meth:`use` or the default one."""

    def use(self, stream: Any) -> AbstractContextManager[Any]:
        """Make the stream this thread's current one for the length of a ``with`` block."""

    def event(self) -> Any:
        """Return an event that takes times, with record(stream), query() and synchronize()."""

    def elapsed(self, begin: Any, end: Any) -> float:
        """Return milliseconds of device time between two events."""

    def wait(self, stream: Any, event: Any) -> None:
        """Let work enqueued on the stream from now on begin after the event."""

    def query(self, stream: Any) -> bool:
        """Return True if all the stream's work has completed."""

    def synchronize(self, stream: Any) -> None:
        """Block until all work enqueued on the stream has completed."""

    def array(self, nbytes: int) -> Any:
        """Return new memory, given back when the object dies."""

    def pointer(self, array: Any) -> int:
        """Return the device address of the array's first byte."""

    def keep_busy(self, stream: Any, rounds: int) -> None:
        """Enqueue work in proportion to the rounds: 20 million take some ten milliseconds or more."""

    def fill(self, array: Any, byte: int, stream: Any) -> None:
        """Enqueue on the stream a write of ``byte`` to each byte of the array."""

    def read(self, array: Any) -> bytes:
        """Return the array's bytes, after all work enqueued on the current stream."""

    def stats(self) -> dict[str, Any]:
        """Return statistics under PyTorch's names."""

    def set_limit(self, nbytes: int) -> None:
        """Set the maximum of reserved memory, in bytes; 0: no limit."""

    def empty_cache(self) -> None:
        """Return to the driver all memory that no array uses."""
