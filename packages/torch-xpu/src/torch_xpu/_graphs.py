"""The base class of ``torch.xpu.XPUGraph``, over the runtime's graphs and private pools."""

from __future__ import annotations

from typing import Any

PoolHandle = tuple[int, int]


def pool_handle() -> PoolHandle:
    """Return a number for a pool that graphs may share."""
    import xpu_runtime

    return (0, xpu_runtime.memory.Pool().id)


def _current_stream() -> Any:
    import torch
    import xpu_runtime

    return xpu_runtime.current_stream(torch.xpu.current_device())


class _XPUGraph:
    """A stream's work, captured once and replayed with one call.

    Memory allocated on the stream during the capture comes from a pool of the graph's, whichever thread
    asks, so nobody else writes there between two replays.
    """

    def __new__(cls, keep_graph: bool = False) -> Any:
        return super().__new__(cls)

    def __init__(self, keep_graph: bool = False) -> None:
        import xpu_runtime

        self._graph = xpu_runtime.Graph()
        self._pool = 0
        self._capture: Any = None

    def capture_begin(self, pool: PoolHandle | None = None) -> None:
        """Capture the current stream's work from now on, instead of running it."""
        import xpu_runtime

        if self._capture:
            raise RuntimeError("this graph is being captured already")
        self._pool = pool[1] if pool else xpu_runtime.memory.Pool().id
        capture = self._graph.capture(_current_stream(), self._pool)
        capture.__enter__()
        self._capture = capture

    def capture_end(self) -> None:
        """End the capture, so that replay() may be called."""
        if not self._capture:
            raise RuntimeError("capture_end() without capture_begin()")
        capture, self._capture = self._capture, None
        capture.__exit__()

    def instantiate(self) -> None:
        """Do nothing: `capture_end()` has already instantiated the graph."""

    def replay(self) -> None:
        """Enqueue the captured work on the current stream. Does not wait for it."""
        self._graph.replay(_current_stream())

    def reset(self) -> None:
        """Drop the captured work; its memory returns to the common pool once no replay uses it."""
        self._graph.reset()
        self._pool = 0

    def pool(self) -> PoolHandle:
        """Return the pool's handle, for other graphs that may share it."""
        if not self._pool:
            raise RuntimeError("the graph has no pool before its capture begins")
        return (0, self._pool)

    def register_generator_state(self, generator: Any) -> None:
        """Do nothing: the runtime notices every generator that captured work draws from."""

    def enable_debug_mode(self) -> None:
        """Do nothing: debug_dump() is always available."""

    def debug_dump(self, debug_path: str) -> None:
        """Write the number of captured submissions and the mode to a file."""
        with open(debug_path, "w") as file:
            file.write(
                f"{len(self._graph)} pieces of work, replayed as {self._graph.mode or 'nothing'}\n"
            )

    def raw_xpu_graph(self) -> int:
        """Refused: SYCL's graphs have no handle in C."""
        raise NotImplementedError("SYCL graphs have no C handle to give")

    raw_xpu_graph_exec = raw_xpu_graph
