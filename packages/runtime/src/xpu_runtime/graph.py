"""Capture a stream's work once, replay it with one call."""

from __future__ import annotations

from ._native import C
from ._stream import Stream, current_stream


class Graph:
    """Captured work of a stream.

    >>> graph = xpu_runtime.Graph()
    >>> with graph.capture():
    ...     xpu_runtime.launch(kernel, 64, 64, [x])
    >>> graph.replay()
    """

    def __init__(self) -> None:
        self._graph = C.Graph()

    def capture(self, stream: Stream | None = None, pool: int = 0) -> _Capture:
        """Return a `with` block that captures the stream's work instead of running it.

        Memory allocated on the stream in the block comes from the `memory.Pool` with the id `pool`, by
        default from a pool of the graph's own. Waiting for the stream in the block is an error.
        """
        return _Capture(self._graph, stream or current_stream(), pool)

    def replay(self, stream: Stream | None = None) -> None:
        """Enqueue the captured work, in order. Does not wait for it."""
        self._graph.replay(stream or current_stream())

    def reset(self) -> None:
        """Drop the captured work, so that capture() may be called again. Does not wait for replays."""
        self._graph.reset()

    @property
    def mode(self) -> str:
        """'native' for SYCL graphs, 'list' for a replayed launch list, '' before a capture."""
        return self._graph.mode

    def __len__(self) -> int:
        return len(self._graph)


class _Capture:
    def __init__(self, graph: C.Graph, stream: Stream, pool: int) -> None:
        self._graph, self._stream, self._pool = graph, stream, pool

    def __enter__(self) -> Stream:
        self._graph.begin(self._stream, self._pool)
        return self._stream

    def __exit__(self, *_: object) -> None:
        self._graph.end()
