"""What the conformance tests ask of a framework."""

from __future__ import annotations

from contextlib import AbstractContextManager
from typing import Any, Protocol


class Framework(Protocol):
    """Streams, events and memory as one framework names them."""

    #: What it raises when memory runs out.
    out_of_memory: type[Exception]

    def stream(self) -> Any:
        """A stream that is not the default one."""

    def default_stream(self) -> Any:
        """Return the stream that is current in a new thread."""

    def current_stream(self) -> Any:
        """Return the calling thread's stream, set by :meth:`use` or the default one."""

    def use(self, stream: Any) -> AbstractContextManager[Any]:
        """Makes the stream this thread's current one."""

    def event(self) -> Any:
        """An event that takes times, with record(stream), query() and synchronize()."""

    def elapsed(self, begin: Any, end: Any) -> float:
        """Milliseconds of device time between two events."""

    def wait(self, stream: Any, event: Any) -> None:
        """Work queued on the stream from now on begins after the event."""

    def query(self, stream: Any) -> bool:
        """Whether all the stream's work has ended."""

    def synchronize(self, stream: Any) -> None:
        """Block until all work enqueued on the stream has completed."""

    def array(self, nbytes: int) -> Any:
        """New memory, given back when the object dies."""

    def pointer(self, array: Any) -> int:
        """Return the device address of the array's first byte."""

    def keep_busy(self, stream: Any, rounds: int) -> None:
        """Queues work in proportion to the rounds: 20 million take some ten milliseconds or more."""

    def fill(self, array: Any, byte: int, stream: Any) -> None:
        """Enqueue on the stream a write of ``byte`` to each byte of the array."""

    def read(self, array: Any) -> bytes:
        """Its content, once the current stream has come to it."""

    def stats(self) -> dict[str, Any]:
        """Statistics under PyTorch's names."""

    def set_limit(self, nbytes: int) -> None:
        """The most memory to be reserved; 0: no limit."""

    def empty_cache(self) -> None:
        """Return to the driver all memory that no array uses."""
