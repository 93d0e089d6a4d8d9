"""Record a stream's work once, replay it with one call."""

from __future__ import annotations

from ._native import C
from ._stream import Stream, current_stream


class Graph:
    """Recorded work.

    >>> graph = xpu_runtime.Graph()
    >>> with graph.record():
    ...     xpu_runtime.launch(kernel, 64, 64, [x])
    >>> graph.replay()
    """

    def __init__(self) -> None:
        self._graph = C.Graph()

    def record(self, stream: Stream | None = None, pool: int = 0) -> _Recording:
        """A `with` block whose work on the stream is recorded instead of run.

        What is allocated on the stream meanwhile comes from the `memory.Pool` with the id `pool`, by
        default from one of the graph's own.
        """
        return _Recording(self._graph, stream or current_stream(), pool)

    def replay(self, stream: Stream | None = None) -> None:
        """Queues everything recorded, in order."""
        self._graph.replay(stream or current_stream())

    def reset(self) -> None:
        """Drops the recording so that another can be made."""
        self._graph.reset()

    @property
    def mode(self) -> str:
        """'native' for SYCL graphs, 'list' for a replayed launch list, '' before recording."""
        return self._graph.mode

    def __len__(self) -> int:
        return len(self._graph)


class _Recording:
    def __init__(self, graph: C.Graph, stream: Stream, pool: int) -> None:
        self._graph, self._stream, self._pool = graph, stream, pool

    def __enter__(self) -> Stream:
        self._graph.begin(self._stream, self._pool)
        return self._stream

    def __exit__(self, *_: object) -> None:
        self._graph.end()
