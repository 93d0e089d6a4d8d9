"""Time a pair alternately: ours, peer, peer, ours, … so that changes of the machine's speed affect both."""

from __future__ import annotations

import fnmatch
import statistics
import time
from collections.abc import Callable, Iterable
from dataclasses import asdict, dataclass
from typing import Any

from .case import Bar, Case, Mean, Pair

SAMPLE_SECONDS = 0.02
CASE_SECONDS = 2.0
MIN_REPETITIONS, MAX_REPETITIONS = 7, 101
# Each side runs untimed for this long before a sample: threads of OpenMP spin for some 20 ms after
# their last work and would take a core from the next side, whose data also have to return to the caches.
WARM_SECONDS = 0.04


@dataclass(frozen=True)
class Row:
    """A measured case: medians of one call in the case's unit; spread is the ratio's middle half."""

    name: str
    ours: float
    peer: float | None
    peer_name: str | None
    ratio: float | None
    bar: str | None
    ok: bool
    spread: tuple[float, float] | None
    unit: str = "s"

    def as_dict(self) -> dict[str, object]:
        """Return the fields by name, all of which JSON can hold."""
        return asdict(self)


def _warm(call: Callable[[], object], sync: Callable[[], object] | None) -> None:
    end = time.perf_counter() + WARM_SECONDS
    while time.perf_counter() < end:
        call()
        if sync:
            sync()


def sides_of(pair: Pair) -> dict[str, tuple[Any, Callable[[], object] | None]]:
    """Return the callables of a pair, each with what ends its samples, by side."""
    sides = {"ours": (pair.ours, pair.sync)}
    if pair.peer is not None:
        sides["peer"] = (pair.peer, pair.peer_sync)
    return sides


def sample(pair: Pair, side: str, inner: int) -> float:
    """Return the time of one call of a side, from a sample of ``inner`` calls."""
    call, sync = sides_of(pair)[side]
    if pair.self_timed:
        return statistics.fmean(float(call()) for _ in range(inner))
    if pair.peer is not None:
        _warm(call, sync)
    begin = time.perf_counter()
    for _ in range(inner):
        call()
    end = time.perf_counter()
    if sync:
        sync()
        if pair.time_sync:
            end = time.perf_counter()
    return (end - begin) / inner


def calls_a_sample(pair: Pair) -> int:
    """Return how many calls make a sample long enough for the clock. Also warms up both sides."""
    sides = sides_of(pair)
    if pair.inner is not None or pair.self_timed:
        for side in sides:
            sample(pair, side, pair.inner or 1)
        return pair.inner or 1
    quickest = min(min(sample(pair, side, 1) for _ in range(3)) for side in sides)
    return max(1, min(5000, round(SAMPLE_SECONDS / max(quickest, 1e-9))))


def measure(case: Case) -> Row:
    """Run a case and compare it with its bar."""
    pair = case.setup()
    try:
        inner = calls_a_sample(pair)
        times: dict[str, list[float]] = {side: [] for side in sides_of(pair)}
        start = time.perf_counter()
        min_repetitions = case.repetitions or MIN_REPETITIONS
        max_repetitions = case.repetitions or MAX_REPETITIONS
        for repetition in range(max_repetitions):
            for side in times if repetition % 2 == 0 else reversed(times):
                times[side].append(sample(pair, side, inner))
            if repetition + 1 >= min_repetitions and time.perf_counter() - start > CASE_SECONDS:
                break
    finally:
        if pair.close:
            pair.close()
    return judge(case, times["ours"], times.get("peer"))


def judge(case: Case, ours: list[float], peer: list[float] | None) -> Row:
    """Return the row of a case. Its ratio is the median of the ratios of pairs of samples."""
    bar = Bar(case.bar) if case.bar else None
    if peer is None and not (bar and bar.absolute):
        ratios = None
    else:
        comparison = bar or Bar(">= 0")
        ratios = [comparison.ratio(a, b) for a, b in zip(ours, peer or ours, strict=True)]
    ratio = statistics.median(ratios) if ratios else None
    spread = None
    if ratios and len(ratios) > 1:
        low, _, high = statistics.quantiles(ratios, n=4)
        spread = (low, high)
    return Row(
        name=case.name,
        ours=statistics.median(ours),
        peer=statistics.median(peer) if peer is not None else None,
        peer_name=case.peer_name,
        ratio=ratio,
        bar=case.bar,
        ok=bar is None or (ratio is not None and bar.cleared_by(ratio)),
        spread=spread,
        unit=case.unit,
    )


def mean_of(mean: Mean, rows: Iterable[Row]) -> Row:
    """Return the row of a mean over measured rows."""
    ratios = [row.ratio for row in rows if row.ratio and fnmatch.fnmatch(row.name, mean.pattern)]
    ratio = statistics.geometric_mean(ratios) if ratios else None
    ok = ratio is None or Bar(mean.bar).cleared_by(ratio)
    return Row(mean.name, 0.0, None, None, ratio, mean.bar, ok, None)
