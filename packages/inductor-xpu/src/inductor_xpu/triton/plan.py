"""What is decided about a kernel before its text is final.

The writer finds out while it writes, for example that a value is needed in another loop than the one that
computes it. It notes the decision here and the text is written again, until nothing is added.
"""

from __future__ import annotations

from dataclasses import dataclass, field

from .ir.program import Op, Value


@dataclass
class Plan:
    """Decisions; each set only grows."""

    # Values in arrays of registers. Others are computed where they are used.
    materialized: set[Value] = field(default_factory=set)
    # Operations, each with the first one of a loop that would fit it, but has to end before it.
    breaks: set[tuple[Op, Op]] = field(default_factory=set)
    # Loops whose elements cannot each run all trips before the next element.
    no_interchange: set[Op] = field(default_factory=set)
    # Values of a loop's next trip that need an array besides that of the current trip.
    copied: set[Value] = field(default_factory=set)
    # The bits of registers along which the loop that begins with an operation reduces.
    axes: dict[Op, tuple[int, ...]] = field(default_factory=dict)
    # Loads that are written where they stand; others are written where they are first used.
    early: set[Op] = field(default_factory=set)
    changed: bool = False
    # Other loops were formed in the last run, so that what it found about values may no longer hold.
    loops_changed: bool = False

    def keep(self, value: Value) -> None:
        """Keep a value in an array."""
        self._add(self.materialized, value)

    def end_loop_before(self, op: Op, first: Op) -> None:
        """Let the loop that begins with ``first`` end before an operation."""
        self._add(self.breaks, (first, op))

    def forbid_interchange(self, op: Op) -> None:
        """Run a loop's trips one after the other for all elements."""
        self._change_loops(self.no_interchange, op)

    def load_early(self, op: Op) -> None:
        """Write a load where it stands."""
        self._change_loops(self.early, op)

    def copy(self, value: Value) -> None:
        """Give a value of a loop's next trip an array of its own."""
        self._add(self.copied, value)

    def reduce_along(self, op: Op, axes: tuple[int, ...]) -> None:
        """Let the loop that begins with an operation reduce along bits of registers."""
        if self.axes.get(op) != axes:
            self.axes[op] = axes
            self.changed = self.loops_changed = True

    def begin(self) -> None:
        """Begin a run."""
        self.changed = self.loops_changed = False
        self._found = set(self.materialized), set(self.breaks), set(self.copied)

    def forget_values(self) -> None:
        """Forget what the last run found about values."""
        self.materialized, self.breaks, self.copied = self._found

    def _change_loops(self, ops: set[Op], op: Op) -> None:
        if op not in ops:
            ops.add(op)
            self.changed = self.loops_changed = True

    def _add(self, items: set, item: object) -> None:  # type: ignore[type-arg]
        if item not in items:
            items.add(item)
            self.changed = True
