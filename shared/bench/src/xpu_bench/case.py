"""A benchmark case: two callables and the bar that their ratio must clear."""

from __future__ import annotations

import re
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Pair:
    """Our callable and the peer's, made by a case's setup.

    ``sync`` ends every sample of ours, ``peer_sync`` every sample of the peer; they count as part of
    the time unless ``time_sync`` is false (for host costs of enqueued work). ``inner`` calls make a
    sample; None lets the harness choose. With ``self_timed`` the callables return the seconds they
    took. ``close`` releases what setup made.
    """

    ours: Callable[[], object]
    peer: Callable[[], object] | None = None
    sync: Callable[[], object] | None = None
    peer_sync: Callable[[], object] | None = None
    time_sync: bool = True
    inner: int | None = None
    self_timed: bool = False
    close: Callable[[], object] | None = None


@dataclass(frozen=True)
class Bar:
    """A limit of a ratio, or of our time alone.

    Examples: ``>= 0.95`` (our speed over the peer's), ``<= 1.15`` (our time over the peer's), ``<= 0.15 s``
    (our time alone; also ``ms``, ``us``).
    """

    text: str

    _PATTERN = re.compile(r"(>=|<=) ([0-9.]+)(?: (s|ms|us))?")
    _SECONDS = {"s": 1.0, "ms": 1e-3, "us": 1e-6}

    def __post_init__(self) -> None:
        matched = self._PATTERN.fullmatch(self.text)
        if matched is None or (matched[1] == ">=" and matched[3]):
            raise ValueError(f"bar {self.text!r}: expected '>= R', '<= R' or '<= T s|ms|us'")

    @property
    def _parts(self) -> tuple[str, float, str | None]:
        matched = self._PATTERN.fullmatch(self.text)
        assert matched
        return matched[1], float(matched[2]), matched[3]

    @property
    def absolute(self) -> bool:
        """True if the bar limits our time alone, without a peer."""
        return self._parts[2] is not None

    def ratio(self, ours: float, peer: float) -> float:
        """Return the number to compare with the limit, from two times in seconds."""
        sign, _, unit = self._parts
        if unit is not None:
            return ours / self._SECONDS[unit]
        return peer / ours if sign == ">=" else ours / peer

    def cleared_by(self, ratio: float) -> bool:
        """Return True if a number from :meth:`ratio` is within the limit; equal to it is."""
        sign, limit, _ = self._parts
        return ratio >= limit if sign == ">=" else ratio <= limit


@dataclass(frozen=True)
class Case:
    """A case: its name, its setup, the name of the peer, and the bar (None: shown, not judged).

    ``unit`` is ``s`` or, where self-timed callables return something else, ``B`` (bytes) or ``x``
    (a quotient).
    """

    name: str
    setup: Callable[[], Pair]
    peer_name: str | None = None
    bar: str | None = None
    repetitions: int | None = None
    unit: str = "s"


@dataclass(frozen=True)
class Mean:
    """A row of the geometric mean of the ratios of earlier rows whose names match a pattern."""

    name: str
    pattern: str
    bar: str
