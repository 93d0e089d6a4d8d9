"""Index of the steps that access each buffer of a plan."""

from __future__ import annotations

import math
from bisect import bisect_left

from .plan import Buffer, Step


class Uses:
    """The steps that read, write or access each buffer, as ascending numbers in execution order.

    A loop comes before its body. Merged buffers count as one.
    """

    def __init__(self, steps: list[Step]) -> None:
        self.steps: list[Step] = []
        self.number: dict[Step, int] = {}
        self.end: dict[Step, int] = {}
        """For each step, the number after its own and those of its bodies."""
        self.read: dict[Buffer, list[int]] = {}
        self.written: dict[Buffer, list[int]] = {}
        self.touched: dict[Buffer, list[int]] = {}
        for step in steps:
            self._add(step)

    def _add(self, step: Step) -> None:
        number = self.number[step] = len(self.steps)
        self.steps.append(step)
        reads = {buffer.root for buffer in step.reads}
        writes = {buffer.root for buffer in step.writes}
        for buffers, lists in (
            (reads, self.read),
            (writes, self.written),
            (reads | writes, self.touched),
        ):
            for buffer in buffers:
                lists.setdefault(buffer, []).append(number)
        for body in step.bodies:
            for inner in body:
                self._add(inner)
        self.end[step] = len(self.steps)

    def join(self, one: Buffer, into: Buffer) -> None:
        """Merge ``one`` into ``into``; both must be roots."""
        one.same_as = into
        for lists in (self.read, self.written, self.touched):
            if one in lists:
                lists[into] = sorted({*lists.get(into, ()), *lists.pop(one)})

    def forget(self, step: Step) -> None:
        """Remove a step that the plan leaves out."""
        number = self.number[step]
        for buffer in {buffer.root for buffer in (*step.reads, *step.writes)}:
            for lists in (self.read, self.written, self.touched):
                numbers = lists.get(buffer, [])
                at = bisect_left(numbers, number)
                if at < len(numbers) and numbers[at] == number:
                    del numbers[at]


def any_between(numbers: list[int], first: int, end: float = math.inf) -> bool:
    """Return True if one of the ascending numbers is in [first, end)."""
    at = bisect_left(numbers, first)
    return at < len(numbers) and numbers[at] < end
