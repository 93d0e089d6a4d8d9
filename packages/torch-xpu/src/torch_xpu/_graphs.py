"""The base class of ``torch.xpu.XPUGraph``, over the runtime's graphs and private pools."""

from __future__ import annotations

from typing import Any

PoolHandle = tuple[int, int]


def pool_handle() -> PoolHandle:
    """A number for a pool that graphs may share."""
    import xpu_runtime

    return (0, xpu_runtime.memory.Pool().id)


def _current_stream() -> Any:
    import torch
    import xpu_runtime

    return xpu_runtime.current_stream(torch.xpu.current_device())


class _XPUGraph:
    """A stream's work, recorded once and replayed with one call.

    What is allocated on the stream while it is recorded comes from a pool of the graph's, whichever thread
    asks, so nobody else writes there between two replays.
    """

    def __new__(cls, keep_graph: bool = False) -> Any:
        return super().__new__(cls)

    def __init__(self, keep_graph: bool = False) -> None:
        import xpu_runtime

        self._graph = xpu_runtime.Graph()
        self._pool = 0
        self._recording: Any = None

    def capture_begin(self, pool: PoolHandle | None = None) -> None:
        """From now on the current stream's work is recorded instead of run."""
        import xpu_runtime

        if self._recording:
            raise RuntimeError("this graph is being captured already")
        self._pool = pool[1] if pool else xpu_runtime.memory.Pool().id
        recording = self._graph.record(_current_stream(), self._pool)
        recording.__enter__()
        self._recording = recording

    def capture_end(self) -> None:
        """Ends the recording; replay() may be called."""
        if not self._recording:
            raise RuntimeError("capture_end() without capture_begin()")
        recording, self._recording = self._recording, None
        recording.__exit__()

    def instantiate(self) -> None:
        """Do nothing: ``capture_end()`` has already instantiated the graph."""

    def replay(self) -> None:
        """Enqueue everything captured on the current stream."""
        self._graph.replay(_current_stream())

    def reset(self) -> None:
        """Drop the captured work; its memory returns to the common pool once no replay uses it."""
        self._graph.reset()
        self._pool = 0

    def pool(self) -> PoolHandle:
        """The pool that other graphs may share."""
        if not self._pool:
            raise RuntimeError("the graph has no pool before its capture begins")
        return (0, self._pool)

    def register_generator_state(self, generator: Any) -> None:
        """Nothing to do: every generator that recorded work draws from is found by itself."""

    def enable_debug_mode(self) -> None:
        """Nothing to do: debug_dump() is always there."""

    def debug_dump(self, debug_path: str) -> None:
        """Write what the graph holds to a file."""
        with open(debug_path, "w") as file:
            file.write(
                f"{len(self._graph)} pieces of work, replayed as {self._graph.mode or 'nothing'}\n"
            )

    def raw_xpu_graph(self) -> int:
        """Refused: SYCL's graphs have no handle in C."""
        raise NotImplementedError("SYCL graphs have no C handle to give")

    raw_xpu_graph_exec = raw_xpu_graph
