"""Show every installed package at work, then print the results, times beside the stock CPU, and a trace.

A package adds its act with an entry point in the group ``xpu_sdk.demo``: a callable that takes a
:class:`Stage`. Acts run in the order of their names. With ``--llm`` a language model answers a question
instead.
"""

from __future__ import annotations

import argparse
import statistics
import time
import traceback
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from functools import partial
from importlib.metadata import entry_points
from pathlib import Path

from .. import printing
from ..output_files import why_unwritable

HELP = "show the installed packages at work"
GROUP = "xpu_sdk.demo"
QUESTION = "Name the capital of France."
# Steps of a few milliseconds are repeated for so long, for a median that other programs disturb less.
MIN_SECONDS = 0.5


@dataclass(frozen=True)
class StepTimes:
    """Seconds of a program's first step, which compiles, and of a steady one: the median of the others."""

    first: float
    steady: float


class Stage:
    """The interface of an act: it explains what it does, and hands in results and times."""

    def __init__(self) -> None:
        self.results: list[tuple[str, str, str, bool]] = []
        self.comparisons: list[tuple[str, StepTimes | None, StepTimes]] = []
        self.act = ""

    def say(self, text: str) -> None:
        """Print a line of explanation, or a block of text as it is."""
        printing.console.print(text, soft_wrap=True)

    def result(self, what: str, got: str, right: bool = True) -> None:
        """Add a row to the closing table; ``right`` false makes the demo fail."""
        self.results.append((self.act, what, got, right))

    @contextmanager
    def timed(self, what: str) -> Iterator[None]:
        """Add the time that the block takes as a result."""
        begin = time.perf_counter()
        yield
        self.result(what, printing.format_duration(time.perf_counter() - begin))

    def compare_steps(
        self, program: str, cpu: Callable[[], float], xpu: Callable[[], float], steps: int = 20
    ) -> tuple[float, float]:
        """Time at least ``steps`` steps of a program on the framework's own CPU device, then on xpu.

        Each callable runs one step and waits for its result, which it returns. Returns the results of
        step number ``steps``.
        """
        cpu_times, cpu_result = time_steps(cpu, steps)
        xpu_times, xpu_result = time_steps(xpu, steps)
        self.comparisons.append((program, cpu_times, xpu_times))
        return cpu_result, xpu_result

    def time_xpu_steps(self, program: str, xpu: Callable[[], float], steps: int = 20) -> float:
        """Time a program that the stock CPU cannot run on this machine; return as ``compare_steps``."""
        times, result = time_steps(xpu, steps)
        self.comparisons.append((program, None, times))
        return result


def time_steps(step: Callable[[], float], steps: int) -> tuple[StepTimes, float]:
    """Run a step at least ``steps`` times; return the times and the result of the step of this number."""
    seconds: list[float] = []
    results: list[float] = []
    while len(seconds) < steps or sum(seconds[1:]) < MIN_SECONDS:
        begin = time.perf_counter()
        results.append(step())
        seconds.append(time.perf_counter() - begin)
    first, *others = seconds
    return StepTimes(first, statistics.median(others)), results[steps - 1]


def describe_ratio(cpu: float, xpu: float) -> str:
    """Return in words how the time on xpu compares with that on the stock CPU."""
    if 0.95 < cpu / xpu < 1.05:
        return "about as fast"
    if xpu < cpu:
        return f"{cpu / xpu:.2g} times as fast"
    return f"{xpu / cpu:.2g} times as long"


def comparison_rows(stage: Stage) -> Iterator[tuple[str, str, str, str, str]]:
    """Yield a row for the first step and one for a steady step of each program."""
    for program, cpu, xpu in stage.comparisons:
        for step in ("first", "steady"):
            on_xpu = getattr(xpu, step)
            if cpu is None:
                yield program, step, "-", printing.format_duration(on_xpu), ""
                continue
            on_cpu = getattr(cpu, step)
            times = printing.format_duration(on_cpu), printing.format_duration(on_xpu)
            yield program, step, *times, describe_ratio(on_cpu, on_xpu)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    """Add ``--llm``, and ``--trace``, the file of the trace, which every run writes."""
    parser.add_argument(
        "--llm",
        nargs="?",
        const=QUESTION,
        metavar="QUESTION",
        help=f"have a small language model answer a question, by default: {QUESTION}",
    )
    parser.add_argument("--trace", default="xpu-demo.trace.json", metavar="FILE")


def play(stage: Stage, name: str, act: Callable[[Stage], None]) -> None:
    """Run one act; an act that fails is a result, and the others go on."""
    stage.act = name
    printing.console.rule(name)
    try:
        act(stage)
    except Exception as error:  # noqa: BLE001 - acts are other packages' code
        traceback.print_exc()
        stage.result("the act", f"{type(error).__name__}: {error}", right=False)


def run(options: argparse.Namespace) -> int:
    """Play the acts under a trace; return 1 if one failed or was wrong, 2 if the trace cannot be written."""
    import xpu_runtime as xr

    file = Path(options.trace).resolve()
    if problem := why_unwritable(file, "--trace"):
        printing.console.print(f"xpu-sdk demo: {problem}", markup=False)
        return 2
    stage = Stage()
    with xr.trace.record(file):
        for name, act in acts(options.llm):
            play(stage, name, act)
    if not stage.results:  # the act has said what is not installed
        return 1
    report(stage)
    printing.console.print(
        f"Trace, for chrome://tracing or ui.perfetto.dev: {file}", soft_wrap=True
    )
    return 0 if all(right for *_, right in stage.results) else 1


def acts(question: str | None) -> Iterator[tuple[str, Callable[[Stage], None]]]:
    """Yield the acts in their order, or the one that answers a question."""
    if question is not None:
        from .. import demo_llm

        yield "language model", partial(demo_llm.answer, question=question)
        return
    for entry in sorted(entry_points(group=GROUP), key=lambda entry: entry.name):
        yield entry.name, entry.load()


def report(stage: Stage) -> None:
    """Print the results, then the times beside the stock CPU."""
    rows = [(act, what, got, "yes" if right else "NO") for act, what, got, right in stage.results]
    printing.print_table("What was shown", ("act", "what", "got", "right"), rows)
    if stage.comparisons:
        columns = ("program", "step", "stock CPU", "xpu", "xpu against stock CPU")
        printing.print_table("Time of one step", columns, comparison_rows(stage))
        printing.console.print(
            "A first step compiles the kernels that are not cached yet; run the demo again to see it with a "
            "filled cache. A steady step is the median of the others.",
            soft_wrap=True,
        )
