"""Kernels that walk rows: reductions along them, what the reductions are made of, and what is made of them.

Softmax is one: the largest of a row, the sum of its exponentials, the quotients. Each pass over a row reads
it again, from the device's cache, and computes what it needs of an element again, unless that costs more than
to read it: then it reads the result of an earlier pass, and values of slow functions from local memory.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass, field, replace

from .affine import Coordinates
from .emit import Emitter, NeedsMemory, TooLarge
from .graph import Value
from .loops import Output, Target
from .plan import Buffer, View
from .space import counters
from .tasks import Goal, Known, Task
from .types import Element

# Statements beyond which a value is read again rather than computed again.
_EXPENSIVE = 16

# Operations that cost more than a write to local memory and a read.
_SLOW = frozenset(
    ["atan2", "cbrt", "cosine", "exponential", "exponential_minus_one", "log"]
) | frozenset(["log_plus_one", "logistic", "power", "sine", "tan", "tanh"])


@dataclass(eq=False)
class Fold:
    """A reduction along the row, in texts that speak of s0, s1, ... and r0, r1, ... as the runtime's do.

    ``time`` is as a goal's.
    ``update`` makes the text that brings the named elements into s0, s1, ...; ``views``: where results go,
    None for one that is used in the kernel only.
    """

    time: int
    inputs: list[Value]
    outs: list[Value]
    elements: list[Element]
    identities: list[str]
    combine: str
    update: Callable[[list[str]], str]
    finish: list[str]
    views: list[View | None]

    @property
    def stored(self) -> list[tuple[int, View]]:
        """The numbers of the results that go somewhere, and where."""
        return [(number, view) for number, view in enumerate(self.views) if view is not None]


@dataclass(frozen=True)
class CachedValue:
    """An element's value that the pass of this number leaves in local memory for later ones."""

    name: str
    element: Element
    number: int
    variable: str


@dataclass
class Pass:
    """One walk along the row, and what follows once for the row."""

    lines: list[str] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    folds: list[tuple[int, Fold, str]] = field(
        default_factory=list
    )  # number, and text of the update
    after: list[tuple[list[str], Output]] = field(default_factory=list)


@dataclass(eq=False)
class RowTask(Task):
    """A kernel to be, of rows (the leading dimensions) and columns (those that are reduced)."""

    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    stages: list[Fold | Goal] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)
    reloaded: list[Goal] = field(default_factory=list)  # whose values later passes read
    cached: list[CachedValue] = field(default_factory=list)
    target: Target = field(init=False)

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.rows, *self.columns)

    @property
    def open(self) -> bool:
        return True

    def made(self) -> set[Buffer]:
        found: set[Buffer] = set()
        for stage in self.stages:
            if isinstance(stage, Fold):
                found.update(view.buffer.root for _, view in stage.stored)
            elif stage.view is not None:
                found.add(stage.view.buffer.root)
        return found


def task_of_fold(
    fold: Fold, rows: tuple[int, ...], columns: tuple[int, ...], known: Known, target: Target
) -> RowTask:
    """A reduction by itself."""
    return _Writer(rows, columns, target, set(), known).write([fold])


def merged_rows(first: Task, second: Task, made: set[Buffer], known: Known) -> RowTask | None:
    """One kernel of two, at least one of which walks rows; None when they do not walk the same."""
    rows = first if isinstance(first, RowTask) else second
    assert isinstance(rows, RowTask)
    stages: list[Fold | Goal] = []
    for task in (first, second):
        if isinstance(task, RowTask):
            if (task.rows, task.columns) != (rows.rows, rows.columns):
                return None
            stages += task.stages
        elif _is_whole(task, rows) or _is_of_rows(task, rows):
            stages += task.goals
        else:
            return None
    try:
        return _Writer(rows.rows, rows.columns, rows.target, made, known).write(stages)
    except (NeedsMemory, TooLarge):
        return None


def without(task: RowTask, read: set[Buffer], known: Known) -> RowTask:
    """The task without what it writes for nobody."""

    def wanted(view: View) -> bool:
        return view.buffer.kind != "temporary" or view.buffer.root in read

    stages: list[Fold | Goal] = []
    for stage in task.stages:
        if isinstance(stage, Fold):
            views = [v if v is not None and wanted(v) else None for v in stage.views]
            stages.append(stage if views == stage.views else replace(stage, views=views))
        elif stage.view is None or stage in task.reloaded or wanted(stage.view):
            stages.append(stage)
    if stages == task.stages:
        return task
    return _Writer(task.rows, task.columns, task.target, task.made(), known).write(stages)


def _is_whole(task: Task, rows: RowTask) -> bool:
    return task.shape == rows.shape


def _is_of_rows(task: Task, rows: RowTask) -> bool:
    leading = len(rows.rows)
    return task.shape[:leading] == rows.rows and all(size == 1 for size in task.shape[leading:])


@dataclass
class _Writer:
    """Writes the statements of a task's passes."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    target: Target
    made: set[Buffer]
    known: Known

    def write(self, stages: list[Fold | Goal]) -> RowTask:
        """The task of these stages, in as few passes as there can be."""
        self.emitter = Emitter(self._place)
        self.whole = counters((*self.rows, *self.columns))
        self.own = counters(self.rows)
        self.passes = [Pass()]
        self.used: set[int] = set()  # the passes whose folds the present statements use
        self.reloaded: list[Goal] = []
        self.cached: list[CachedValue] = []
        for number, stage in enumerate(stages):
            self.time = stage.time
            if isinstance(stage, Goal) and not self._walks(stage):
                self._write_after(stage)
            else:
                self._write_in_pass(number, stage)
        return self._task(stages)

    def _place(self, value: Value) -> View | None:
        view = self.known(value, self.time)
        return None if view is None or view.buffer.root in self.made else view

    def _walks(self, goal: Goal) -> bool:
        """Whether it is about every element, not about the row."""
        return len(goal.shape) == len(self.whole) and goal.shape == (*self.rows, *self.columns)

    def _write_in_pass(self, number: int, stage: Fold | Goal) -> None:
        emitter, present = self.emitter, self.passes[-1]
        lines, known, texts = emitter.lines, dict(emitter.known), dict(emitter.texts)
        loads, before = list(emitter.loads), list(emitter.lines)
        registers, reloaded = dict(emitter.registers), list(self.reloaded)
        cached = list(self.cached)
        self.used.clear()
        self._write_stage(number, stage, present)
        if len(self.passes) - 1 not in self.used:
            present.lines = list(emitter.lines)
            return
        # It needs a result of this pass: another one begins.
        if isinstance(stage, Fold):
            present.folds.pop()
        else:
            present.outputs.pop()
        lines[:] = before
        emitter.known, emitter.texts, emitter.loads = known, texts, loads
        emitter.registers, self.reloaded, self.cached = registers, reloaded, cached
        self._begin()
        self._write_stage(number, stage, self.passes[-1])
        self.passes[-1].lines = list(emitter.lines)

    def _begin(self) -> None:
        self._offer_cached()
        self.passes.append(Pass())
        self.emitter.lines.clear()
        self.emitter.known.clear()
        self.emitter.texts.clear()

    def _offer_cached(self) -> None:
        """Offer what slow functions gave in this pass to the next ones, while local memory has room."""
        emitter = self.emitter
        taken = sum(value.type.element.math_size for value, _ in emitter.cached)
        room = self.target.cache_bytes(math.prod(self.columns))
        for key, variable in emitter.known.items():
            value, at = key
            element = value.type.element
            is_slow = element.kind == "float" and value.op in _SLOW
            if is_slow and at == self.whole and key not in emitter.cached:
                taken += element.math_size
                if taken <= room:
                    name = f"cached{len(emitter.cached)}"
                    left = CachedValue(name, element, len(self.passes) - 1, variable)
                    emitter.cached[key] = self._read_cached(left)

    def _read_cached(self, left: CachedValue) -> Callable[[], str]:
        def read() -> str:
            if left not in self.cached:
                self.cached.append(left)
            return self.emitter.define(left.element.math, f"{left.name}[row_offset + c]")

        return read

    def _write_stage(self, number: int, stage: Fold | Goal, present: Pass) -> None:
        emitter = self.emitter
        if isinstance(stage, Fold):
            names = [emitter.value(value, self.whole) for value in stage.inputs]
            present.folds.append((number, stage, stage.update(names)))
            for index, value in enumerate(stage.outs):
                emitter.registers[value] = self._result(
                    f"f{number}_{index}", value, len(self.passes) - 1
                )
                emitter.known.pop((value, self.own), None)
            return
        begin = len(emitter.lines)
        present.outputs.append(stage.write(emitter))
        if stage.value is not None and len(emitter.lines) - begin > _EXPENSIVE:
            emitter.registers[stage.value] = self._again(stage)

    def _write_after(self, goal: Goal) -> None:
        """What is computed once for the row."""
        emitter = self.emitter
        known, texts = dict(emitter.known), dict(emitter.texts)
        lines, kept = emitter.lines, list(emitter.lines)
        lines.clear()
        emitter.known.clear()
        emitter.texts.clear()
        output = goal.write(emitter)
        self.passes[-1].after.append((list(lines), output))
        lines[:] = kept
        emitter.known, emitter.texts = known, texts

    def _result(self, name: str, value: Value, number: int) -> Callable[[Coordinates], str]:
        def read(at: Coordinates) -> str:
            if at != self.own:
                raise NeedsMemory(value)
            self.used.add(number)
            return name

        return read

    def _again(self, goal: Goal) -> Callable[[Coordinates], str]:
        def read(at: Coordinates) -> str:
            assert goal.value is not None
            assert goal.view is not None
            if at != self.whole:
                raise NeedsMemory(goal.value)
            if goal not in self.reloaded:
                self.reloaded.append(goal)
            return self.emitter.load(goal.view, at)

        return read

    def _task(self, stages: list[Fold | Goal]) -> RowTask:
        for left in self.cached:
            store = f"{left.name}[row_offset + c] = {left.variable};"
            self.passes[left.number].lines.append(store)
        outputs = [output for p in self.passes for output in p.outputs]
        outputs += [output for p in self.passes for _, output in p.after]
        views = [output.view for output in outputs]
        views += [v for stage in stages if isinstance(stage, Fold) for _, v in stage.stored]
        for view in views:
            self.emitter.argument(view.buffer, view.element)
        written = list(dict.fromkeys(view.buffer for view in views))
        read = dict.fromkeys(view.buffer for _, view, _ in self.emitter.loads)
        task = RowTask("kernel", {}, emitter=self.emitter, outputs=outputs)
        task.rows, task.columns, task.stages, task.passes = (
            self.rows,
            self.columns,
            stages,
            self.passes,
        )
        task.writes, task.reloaded = written, self.reloaded
        task.cached, task.target = self.cached, self.target
        own = {goal.view.buffer.root for goal in self.reloaded if goal.view}
        task.reads = [buffer for buffer in read if buffer.root not in own]
        task.goals = [stage for stage in stages if isinstance(stage, Goal)]
        return task
