"""Kernels that are not written yet: what they are to compute can still be put together.

Two kernels over one shape become one when nothing between them stands in the way. What one of them computes
the other need not read again, and what nobody else reads need not be written.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .emit import MOST_LINES, Emitter, NeedsMemory, TooLarge
from .graph import Value
from .loops import Output
from .plan import Buffer, Step, View

# Where a value lay at a time, if it did.
Known = Callable[[Value, int], View | None]

# How far back a partner is looked for: further on there are seldom any.
_WINDOW = 64


@dataclass(frozen=True)
class Goal:
    """Something to compute and write, for each element of a shape.

    ``time``: when it was queued; what has got memory since may be written by later steps. ``value``: what
    ``view`` then holds, if it is the whole of one.
    """

    write: Callable[[Emitter], Output]
    shape: tuple[int, ...]
    time: int
    value: Value | None = None
    view: View | None = None


@dataclass(eq=False)
class Task(Step):
    """A kernel to be."""

    goals: list[Goal] = field(default_factory=list)
    emitter: Emitter = field(default_factory=lambda: Emitter(lambda value: None))
    outputs: list[Output] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        return self.outputs[0].view.shape

    @property
    def open(self) -> bool:
        """Whether it may be put together with others."""
        return bool(self.goals)

    def made(self) -> set[Buffer]:
        """The buffers whose whole content it computes."""
        pairs = zip(self.goals, self.outputs, strict=True)
        return {output.view.buffer.root for goal, output in pairs if goal.value is not None}


def make_task(goals: list[Goal], emitter: Emitter, outputs: list[Output]) -> Task:
    """The task of goals that were written."""
    task = Task("kernel", {}, goals=goals, emitter=emitter, outputs=outputs)
    written = [output.view.buffer for output in outputs] + [v.buffer for _, v in emitter.stores]
    task.writes = list(dict.fromkeys(written))
    task.reads = list(dict.fromkeys(view.buffer for _, view, _ in emitter.loads))
    return task


def merge_tasks(steps: list[Step], known: Known) -> None:
    """Put together what can be, in the block and in those of its loops and branches."""
    for step in steps:
        for body in step.bodies:
            merge_tasks(body, known)
    at, conflicts = 0, _Conflicts()
    while at < len(steps):
        step = steps[at]
        if isinstance(step, Task) and step.open:
            at = _merge_back(steps, at, known, conflicts)
        at += 1


def _merge_back(steps: list[Step], at: int, known: Known, conflicts: _Conflicts) -> int:
    """Merge a task with the nearest earlier one that takes it; returns where the next one to look at is."""
    second = steps[at]
    assert isinstance(second, Task)
    between, up = _Touched(set(), set()), True
    for back in range(at - 1, max(-1, at - 1 - _WINDOW), -1):
        first = steps[back]
        merged = None
        free = up or not between.conflicts(conflicts.of(first))
        if free and isinstance(first, Task) and first.open:
            merged = _merged(first, second, known)
        if merged is None:
            up = up and not conflicts.of(first).conflicts(conflicts.of(second))
            between.add(conflicts.of(first))
            continue
        del steps[at]
        if up:
            steps[back] = merged
        else:
            del steps[back]
            steps.insert(at - 1, merged)
        return at - 1
    return at


@dataclass(frozen=True)
class _Touched:
    """The buffers that steps write, and all that they use."""

    written: set[Buffer]
    used: set[Buffer]

    def conflicts(self, other: _Touched) -> bool:
        """Whether the two may not change places."""
        return not (self.written.isdisjoint(other.used) and other.written.isdisjoint(self.used))

    def add(self, other: _Touched) -> None:
        self.written.update(other.written)
        self.used.update(other.used)


class _Conflicts:
    """What each step touches."""

    def __init__(self) -> None:
        self.known: dict[Step, _Touched] = {}

    def of(self, step: Step) -> _Touched:
        if step not in self.known:
            every = list(step.all_steps())
            written = {buffer.root for inner in every for buffer in inner.writes}
            read = {buffer.root for inner in every for buffer in inner.reads}
            self.known[step] = _Touched(written, written | read)
        return self.known[step]


def _merged(first: Task, second: Task, known: Known) -> Task | None:
    made = first.made()
    written = {buffer.root for buffer in second.writes}
    if any(b.root in written for b in (*first.reads, *first.writes)):
        return None
    if any(b.root not in made for b in _common(first.writes, second.reads)):
        return None
    from .rows import RowTask, merged_rows

    if isinstance(first, RowTask) or isinstance(second, RowTask):
        return merged_rows(first, second, made | second.made(), known)
    if first.shape != second.shape:
        return None
    # What two computations have in common is in memory: together they would be too large.
    if min(len(task.emitter.lines) for task in (first, second)) > MOST_LINES // 2:
        return None
    try:
        task = write_goals(second.goals, made | second.made(), known, after=first)
    except (NeedsMemory, TooLarge):
        return None
    # Computing something twice is no gain.
    if len(task.emitter.lines) > len(first.emitter.lines) + len(second.emitter.lines):
        return None
    return task


def _common(written: list[Buffer], read: list[Buffer]) -> list[Buffer]:
    roots = {buffer.root for buffer in read}
    return [buffer for buffer in written if buffer.root in roots]


def write_goals(
    goals: list[Goal], made: set[Buffer], known: Known, after: Task | None = None
) -> Task:
    """One task; what it makes itself it does not read.

    ``after``: a task that is written already, and touches nothing that these goals write.
    """

    time = 0

    def place(value: Value) -> View | None:
        view = known(value, time)
        return None if view is None or view.buffer.root in made else view

    emitter = after.emitter.copy(place) if after else Emitter(place)
    outputs = list(after.outputs) if after else []
    for goal in goals:
        time = goal.time
        outputs.append(goal.write(emitter))
    for output in outputs:
        emitter.argument(output.view.buffer, output.view.element)
    return make_task([*after.goals, *goals] if after else goals, emitter, outputs)


def drop_unread(steps: list[Step], known: Known) -> None:
    """Leave out what tasks write for nobody."""
    read = {buffer.root for top in steps for step in top.all_steps() for buffer in step.reads}
    _drop_in(steps, read, known)


def _drop_in(steps: list[Step], read: set[Buffer], known: Known) -> None:
    from .rows import RowTask, without

    for index, step in enumerate(steps):
        for body in step.bodies:
            _drop_in(body, read, known)
        if isinstance(step, RowTask):
            steps[index] = without(step, read, known)
            continue
        if not isinstance(step, Task) or not step.goals:
            continue
        pairs = list(zip(step.goals, step.outputs, strict=True))
        wanted = [
            goal
            for goal, output in pairs
            if output.view.buffer.kind != "temporary" or output.view.buffer.root in read
        ]
        if len(wanted) < len(pairs) and wanted:
            steps[index] = write_goals(wanted, step.made(), known)
