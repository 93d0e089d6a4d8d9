"""Actions for two threads at once, each of which checks what it computed.

Run as a program: ``concurrent_actions.py ROUNDS FIRST SECOND [FIRST SECOND ...]`` runs each pair of
actions in two threads, ROUNDS times each, and prints the pair before it begins.
"""

from __future__ import annotations

import contextlib
import faulthandler
import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterator

import torch
import xpu_runtime as xr

SIZE = 4096


def _inputs() -> torch.Tensor:
    return torch.arange(SIZE, device="xpu", dtype=torch.float32)


def _check(result: torch.Tensor, expected: Callable[[torch.Tensor], torch.Tensor]) -> None:
    assert torch.equal(result.cpu(), expected(torch.arange(SIZE, dtype=torch.float32)))


def _compute() -> None:
    x = _inputs()
    for _ in range(8):
        x = x + 1
    _check(x, lambda host: host + 8)


@contextlib.contextmanager
def _unless_recorded_already() -> Iterator[None]:
    """A process has one trace at a time: the second is refused."""
    try:
        yield
    except RuntimeError as error:
        if "already" not in str(error) and "no trace" not in str(error):
            raise


# PyTorch allows one of each. A second profiler ends the process, on its CPU too. A capture begins, and a
# profiler ends, with a wait for all streams, which is an error while one of them is captured, on CUDA too.
_one_profiler, _one_capture = threading.Lock(), threading.Lock()


def trace() -> None:
    with _unless_recorded_already():
        xr.trace.start()
        try:
            _compute()
        finally:
            xr.trace.stop()


def profiler() -> None:
    with _one_profiler, _one_capture, _unless_recorded_already():
        with torch.profiler.profile(activities=[torch.profiler.ProfilerActivity.XPU]):
            _compute()


_THREAD = threading.local()


def _capture_streams() -> list[torch.xpu.Stream]:
    """Of a pool that nothing else here uses: work of others on a stream that is captured is captured too."""
    if not hasattr(_THREAD, "streams"):
        _THREAD.streams = [torch.xpu.Stream(priority=-1) for _ in range(2)]
    return _THREAD.streams


def _captured(*, with_side_stream: bool) -> tuple[torch.xpu.XPUGraph, torch.Tensor]:
    x, graph = _inputs(), torch.xpu.XPUGraph()
    main, side = _capture_streams()
    with _one_capture, torch.xpu.graph(graph, stream=main):
        y = x
        for _ in range(40):
            y = y + 1
        if with_side_stream:  # has the graph replayed by SYCL's own
            side.wait_stream(torch.xpu.current_stream())
            with torch.xpu.stream(side):
                y = y + 1
            torch.xpu.current_stream().wait_stream(side)
    graph.input = x  # type: ignore[attr-defined] # lives as long as the graph
    return graph, y


def capture() -> None:
    graph, y = _captured(with_side_stream=False)
    graph.replay()
    _check(y, lambda host: host + 40)


def _replay(with_side_stream: bool) -> None:
    name = f"graph_{with_side_stream}"
    if not hasattr(_THREAD, name):
        setattr(_THREAD, name, _captured(with_side_stream=with_side_stream))
    graph, y = getattr(_THREAD, name)
    for _ in range(5):
        graph.replay()
    _check(y, lambda host: host + 40 + with_side_stream)


def list_replay() -> None:
    _replay(with_side_stream=False)


def native_replay() -> None:
    _replay(with_side_stream=True)


def empty_cache() -> None:
    _compute()
    torch.xpu.empty_cache()


def stream_drop() -> None:
    stream = torch.xpu.Stream()
    with torch.xpu.stream(stream):
        x = _inputs() * 3
    torch.xpu.current_stream().wait_stream(stream)
    del stream
    _check(x, lambda host: host * 3)


def event_wait() -> None:
    event, stream = torch.xpu.Event(), torch.xpu.Stream()
    x = _inputs() * 5
    event.record()
    stream.wait_event(event)
    with torch.xpu.stream(stream):
        y = x + 1
    event.synchronize()
    stream.synchronize()
    _check(y, lambda host: host * 5 + 1)


def fork() -> None:
    pid = os.fork()
    if pid == 0:
        try:
            torch.ones(1, device="xpu")
        except RuntimeError:
            os._exit(0)
        os._exit(1)
    assert os.waitpid(pid, 0)[1] == 0


def interrupt() -> None:
    os.kill(os.getpid(), signal.SIGINT)
    time.sleep(0.002)


ACTIONS = {
    action.__name__: action
    for action in (
        trace,
        profiler,
        capture,
        list_replay,
        native_replay,
        empty_cache,
        stream_drop,
        event_wait,
        fork,
        interrupt,
    )
}


_main_is_acting = False


def _handle_interrupt(*_: object) -> None:
    if _main_is_acting:
        raise KeyboardInterrupt


def _repeat(action: Callable[[], None], rounds: int) -> None:
    global _main_is_acting
    is_main = threading.current_thread() is threading.main_thread()
    for _ in range(rounds):
        try:
            _main_is_acting |= is_main
            action()
        except KeyboardInterrupt:  # of an interrupt()
            continue
        finally:
            if is_main:
                _main_is_acting = False


def act_until_exit(name: str) -> None:
    """Start a daemon thread that acts for ever, and act too."""
    action = ACTIONS[name]

    def other() -> None:
        with torch.xpu.stream(torch.xpu.Stream()):
            while True:
                action()

    _compute()
    threading.Thread(target=other, daemon=True).start()
    _repeat(action, 5)


def _run_pair(first: str, second: str, rounds: int) -> None:
    failures: list[BaseException] = []

    def other() -> None:
        try:
            with torch.xpu.stream(torch.xpu.Stream()):
                _repeat(ACTIONS[second], rounds)
        except BaseException as failure:  # noqa: BLE001 - raised below
            failures.append(failure)

    thread = threading.Thread(target=other)
    thread.start()
    with torch.xpu.stream(torch.xpu.Stream()):
        _repeat(ACTIONS[first], rounds)
    thread.join()
    if failures:
        raise failures[0]


def main() -> None:
    rounds, *names = sys.argv[1:]
    signal.signal(signal.SIGINT, _handle_interrupt)
    _compute()
    for first, second in zip(names[::2], names[1::2], strict=True):
        print(first, second, flush=True)
        faulthandler.dump_traceback_later(120, exit=True)
        _run_pair(first, second, int(rounds))
        faulthandler.cancel_dump_traceback_later()


if __name__ == "__main__":
    main()
