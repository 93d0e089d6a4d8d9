"""Kernels that walk rows: reductions along them, what the reductions are made of, and what is made of them.

Softmax is one: the largest of a row, the sum of its exponentials, the quotients. Each pass over a row reads
it again, from the cache; a value is computed again in the next pass, unless that costs more than to read it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from .affine import Coordinates
from .emit import Emitter, NeedsMemory, TooLarge
from .graph import Value
from .loops import Output
from .plan import Buffer, View
from .space import counters
from .tasks import Goal, Known, Task
from .types import Element

# Statements beyond which a value is read again rather than computed again.
_EXPENSIVE = 16


@dataclass(eq=False)
class Fold:
    """A reduction along the row, in texts that speak of s0, s1, ... and r0, r1, ... as the runtime's do.

    ``time`` is as a goal's.
    ``update`` makes the text that brings the named elements into s0, s1, ...; ``views``: where results go.
    """

    time: int
    inputs: list[Value]
    outs: list[Value]
    elements: list[Element]
    identities: list[str]
    combine: str
    update: Callable[[list[str]], str]
    finish: list[str]
    views: list[View]


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
                found.update(view.buffer.root for view in stage.views)
            elif stage.view is not None:
                found.add(stage.view.buffer.root)
        return found


def task_of_fold(
    fold: Fold, rows: tuple[int, ...], columns: tuple[int, ...], known: Known
) -> RowTask:
    """A reduction by itself."""
    return _Writer(rows, columns, set(), known).write([fold])


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
        return _Writer(rows.rows, rows.columns, made, known).write(stages)
    except (NeedsMemory, TooLarge):
        return None


def without(task: RowTask, read: set[Buffer], known: Known) -> RowTask:
    """The task without what it writes for nobody."""

    def wanted(stage: Fold | Goal) -> bool:
        if isinstance(stage, Fold) or stage.view is None or stage in task.reloaded:
            return True
        return stage.view.buffer.kind != "temporary" or stage.view.buffer.root in read

    stages = [stage for stage in task.stages if wanted(stage)]
    if len(stages) == len(task.stages):
        return task
    return _Writer(task.rows, task.columns, task.made(), known).write(stages)


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
        emitter.registers, self.reloaded = registers, reloaded
        self._begin()
        self._write_stage(number, stage, self.passes[-1])
        self.passes[-1].lines = list(emitter.lines)

    def _begin(self) -> None:
        self.passes.append(Pass())
        self.emitter.lines.clear()
        self.emitter.known.clear()
        self.emitter.texts.clear()

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
        outputs = [output for p in self.passes for output in p.outputs]
        outputs += [output for p in self.passes for _, output in p.after]
        views = [output.view for output in outputs]
        views += [v for stage in stages if isinstance(stage, Fold) for v in stage.views]
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
        own = {goal.view.buffer.root for goal in self.reloaded if goal.view}
        task.reads = [buffer for buffer in read if buffer.root not in own]
        task.goals = [stage for stage in stages if isinstance(stage, Goal)]
        return task
