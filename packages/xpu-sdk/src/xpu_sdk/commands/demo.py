"""Shows every installed package at work, and ends with a table of results and one trace of all of it.

A package adds its act by an entry point in the group ``xpu_sdk.demo``: a callable that takes a
:class:`Stage`. Acts run in the order of their names.
"""

from __future__ import annotations

import argparse
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.metadata import entry_points
from pathlib import Path

from .. import show

HELP = "show the installed packages at work"
GROUP = "xpu_sdk.demo"


class Stage:
    """What an act gets: a way to say what it does and to hand in results."""

    def __init__(self) -> None:
        self.results: list[tuple[str, str, str, bool]] = []
        self.act = ""

    def say(self, text: str) -> None:
        """One line of explanation, or a block of text to show as it is."""
        show.console.print(text, markup=False, soft_wrap=True)

    def result(self, what: str, got: str, right: bool = True) -> None:
        """One row of the closing table; ``right`` false makes the demo fail."""
        self.results.append((self.act, what, got, right))

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """A result that is the time the block took."""
        begin = time.perf_counter()
        yield
        self.result(what, show.duration(time.perf_counter() - begin))


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.add_argument("--trace", default="xpu-demo.trace.json", metavar="FILE")


def play(stage: Stage, name: str, act: Callable[[Stage], None]) -> None:
    """Run one act; an act that fails is a result, and the others go on."""
    stage.act = name
    show.console.rule(name)
    try:
        act(stage)
    except Exception as error:  # noqa: BLE001 - acts are other packages' code
        traceback.print_exc()
        stage.result("the act", f"{type(error).__name__}: {error}", right=False)


def run(options: argparse.Namespace) -> int:
    import xpu_runtime as xr

    stage = Stage()
    file = Path(options.trace).resolve()
    with xr.trace.record(file):
        for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
            play(stage, entry.name, entry.load())
    columns = ("act", "what", "got", "right")
    rows = [(act, what, got, "yes" if right else "NO") for act, what, got, right in stage.results]
    show.table("What was shown", columns, rows)
    show.console.print(f"Trace, for chrome://tracing or ui.perfetto.dev: {file}", soft_wrap=True)
    return 0 if all(right for *_, right in stage.results) else 1
