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
from .fusion import LocateValue, OutputSpec, PendingKernel
from .graph import Value
from .kernel_writer import Output, Target
from .plan import Buffer, View
from .space import counters
from .types import Element

# Statements beyond which a value is read again rather than computed again.
_EXPENSIVE = 16

# Operations that cost more than a write to local memory and a read.
_SLOW = frozenset(
    ["atan2", "cbrt", "cosine", "exponential", "exponential_minus_one", "log"]
) | frozenset(["log_plus_one", "logistic", "power", "sine", "tan", "tanh"])


@dataclass(eq=False)
class RowReduction:
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
    def stored_results(self) -> list[tuple[int, View]]:
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
    reductions: list[tuple[int, RowReduction, str]] = field(
        default_factory=list
    )  # number, and text of the update
    after: list[tuple[list[str], Output]] = field(default_factory=list)


@dataclass(eq=False)
class PendingRowKernel(PendingKernel):
    """A kernel to be, of rows (the leading dimensions) and columns (those that are reduced)."""

    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    stages: list[RowReduction | OutputSpec] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)
    reloaded: list[OutputSpec] = field(default_factory=list)  # whose values later passes read
    cached: list[CachedValue] = field(default_factory=list)
    target: Target = field(init=False)

    @property
    def shape(self) -> tuple[int, ...]:
        return (*self.rows, *self.columns)

    @property
    def is_fusible(self) -> bool:
        return True

    def produced_buffers(self) -> set[Buffer]:
        found: set[Buffer] = set()
        for stage in self.stages:
            if isinstance(stage, RowReduction):
                found.update(view.buffer.root for _, view in stage.stored_results)
            elif stage.view is not None:
                found.add(stage.view.buffer.root)
        return found


def row_reduction_task(
    reduction: RowReduction,
    rows: tuple[int, ...],
    columns: tuple[int, ...],
    locate: LocateValue,
    target: Target,
) -> PendingRowKernel:
    """A reduction by itself."""
    return _Writer(rows, columns, target, set(), locate).write([reduction])


def fuse_rows(
    first: PendingKernel, second: PendingKernel, produced: set[Buffer], locate: LocateValue
) -> PendingRowKernel | None:
    """One kernel of two, at least one of which walks rows; None when they do not walk the same."""
    rows = first if isinstance(first, PendingRowKernel) else second
    assert isinstance(rows, PendingRowKernel)
    stages: list[RowReduction | OutputSpec] = []
    for task in (first, second):
        if isinstance(task, PendingRowKernel):
            if (task.rows, task.columns) != (rows.rows, rows.columns):
                return None
            stages += task.stages
        elif _is_whole(task, rows) or _is_of_rows(task, rows):
            stages += task.specs
        else:
            return None
    try:
        return _Writer(rows.rows, rows.columns, rows.target, produced, locate).write(stages)
    except (NeedsMemory, TooLarge):
        return None


def drop_unread_outputs(
    task: PendingRowKernel, read: set[Buffer], locate: LocateValue
) -> PendingRowKernel:
    """The task without what it writes for nobody."""

    def wanted(view: View) -> bool:
        return view.buffer.kind != "temporary" or view.buffer.root in read

    stages: list[RowReduction | OutputSpec] = []
    for stage in task.stages:
        if isinstance(stage, RowReduction):
            views = [v if v is not None and wanted(v) else None for v in stage.views]
            stages.append(stage if views == stage.views else replace(stage, views=views))
        elif stage.view is None or stage in task.reloaded or wanted(stage.view):
            stages.append(stage)
    if stages == task.stages:
        return task
    return _Writer(task.rows, task.columns, task.target, task.produced_buffers(), locate).write(
        stages
    )


def _is_whole(task: PendingKernel, rows: PendingRowKernel) -> bool:
    return task.shape == rows.shape


def _is_of_rows(task: PendingKernel, rows: PendingRowKernel) -> bool:
    leading = len(rows.rows)
    return task.shape[:leading] == rows.rows and all(size == 1 for size in task.shape[leading:])


@dataclass
class _Writer:
    """Writes the statements of a task's passes."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    target: Target
    produced: set[Buffer]
    locate: LocateValue

    def write(self, stages: list[RowReduction | OutputSpec]) -> PendingRowKernel:
        """The task of these stages, in as few passes as there can be."""
        self.emitter = Emitter(self._locate)
        self.whole = counters((*self.rows, *self.columns))
        self.own = counters(self.rows)
        self.passes = [Pass()]
        self.used: set[int] = set()  # the passes whose folds the present statements use
        self.reloaded: list[OutputSpec] = []
        self.cached: list[CachedValue] = []
        for number, stage in enumerate(stages):
            self.time = stage.time
            if isinstance(stage, OutputSpec) and not self._walks(stage):
                self._write_after(stage)
            else:
                self._write_in_pass(number, stage)
        return self._task(stages)

    def _locate(self, value: Value) -> View | None:
        view = self.locate(value, self.time)
        return None if view is None or view.buffer.root in self.produced else view

    def _walks(self, spec: OutputSpec) -> bool:
        """Whether it is about every element, not about the row."""
        return len(spec.shape) == len(self.whole) and spec.shape == (*self.rows, *self.columns)

    def _write_in_pass(self, number: int, stage: RowReduction | OutputSpec) -> None:
        emitter, present = self.emitter, self.passes[-1]
        lines, element_names, expression_names = (
            emitter.lines,
            dict(emitter.element_names),
            dict(emitter.expression_names),
        )
        loads, before = list(emitter.loads), list(emitter.lines)
        registers, reloaded = dict(emitter.registers), list(self.reloaded)
        cached = list(self.cached)
        self.used.clear()
        self._write_stage(number, stage, present)
        if len(self.passes) - 1 not in self.used:
            present.lines = list(emitter.lines)
            return
        # It needs a result of this pass: another one begins.
        if isinstance(stage, RowReduction):
            present.reductions.pop()
        else:
            present.outputs.pop()
        lines[:] = before
        emitter.element_names, emitter.expression_names, emitter.loads = (
            element_names,
            expression_names,
            loads,
        )
        emitter.registers, self.reloaded, self.cached = registers, reloaded, cached
        self._begin()
        self._write_stage(number, stage, self.passes[-1])
        self.passes[-1].lines = list(emitter.lines)

    def _begin(self) -> None:
        self._offer_cached()
        self.passes.append(Pass())
        self.emitter.lines.clear()
        self.emitter.element_names.clear()
        self.emitter.expression_names.clear()

    def _offer_cached(self) -> None:
        """Offer what slow functions gave in this pass to the next ones, while local memory has room."""
        emitter = self.emitter
        taken = sum(value.type.element.math_size for value, _ in emitter.cached)
        room = self.target.cache_bytes(math.prod(self.columns))
        for key, variable in emitter.element_names.items():
            value, at = key
            element = value.type.element
            is_slow = element.kind == "float" and value.op in _SLOW
            if is_slow and at == self.whole and key not in emitter.cached:
                taken += element.math_size
                if taken <= room:
                    name = f"cached{len(emitter.cached)}"
                    cached = CachedValue(name, element, len(self.passes) - 1, variable)
                    emitter.cached[key] = self._read_cached(cached)

    def _read_cached(self, cached: CachedValue) -> Callable[[], str]:
        def read() -> str:
            if cached not in self.cached:
                self.cached.append(cached)
            return self.emitter.define(cached.element.math, f"{cached.name}[row_offset + c]")

        return read

    def _write_stage(self, number: int, stage: RowReduction | OutputSpec, present: Pass) -> None:
        emitter = self.emitter
        if isinstance(stage, RowReduction):
            names = [emitter.value(value, self.whole) for value in stage.inputs]
            present.reductions.append((number, stage, stage.update(names)))
            for index, value in enumerate(stage.outs):
                emitter.registers[value] = self._result(
                    f"f{number}_{index}", value, len(self.passes) - 1
                )
                emitter.element_names.pop((value, self.own), None)
            return
        begin = len(emitter.lines)
        present.outputs.append(stage.write(emitter))
        if stage.value is not None and len(emitter.lines) - begin > _EXPENSIVE:
            emitter.registers[stage.value] = self._reload(stage)

    def _write_after(self, spec: OutputSpec) -> None:
        """What is computed once for the row."""
        emitter = self.emitter
        element_names, expression_names = (
            dict(emitter.element_names),
            dict(emitter.expression_names),
        )
        lines, saved = emitter.lines, list(emitter.lines)
        lines.clear()
        emitter.element_names.clear()
        emitter.expression_names.clear()
        output = spec.write(emitter)
        self.passes[-1].after.append((list(lines), output))
        lines[:] = saved
        emitter.element_names, emitter.expression_names = element_names, expression_names

    def _result(self, name: str, value: Value, number: int) -> Callable[[Coordinates], str]:
        def read(at: Coordinates) -> str:
            if at != self.own:
                raise NeedsMemory(value)
            self.used.add(number)
            return name

        return read

    def _reload(self, spec: OutputSpec) -> Callable[[Coordinates], str]:
        def read(at: Coordinates) -> str:
            assert spec.value is not None
            assert spec.view is not None
            if at != self.whole:
                raise NeedsMemory(spec.value)
            if spec not in self.reloaded:
                self.reloaded.append(spec)
            return self.emitter.load(spec.view, at)

        return read

    def _task(self, stages: list[RowReduction | OutputSpec]) -> PendingRowKernel:
        for cached in self.cached:
            store = f"{cached.name}[row_offset + c] = {cached.variable};"
            self.passes[cached.number].lines.append(store)
        outputs = [output for p in self.passes for output in p.outputs]
        outputs += [output for p in self.passes for _, output in p.after]
        views = [output.view for output in outputs]
        views += [
            v
            for stage in stages
            if isinstance(stage, RowReduction)
            for _, v in stage.stored_results
        ]
        for view in views:
            self.emitter.argument(view.buffer, view.element)
        written = list(dict.fromkeys(view.buffer for view in views))
        read = dict.fromkeys(view.buffer for _, view, _ in self.emitter.loads)
        task = PendingRowKernel("kernel", {}, emitter=self.emitter, outputs=outputs)
        task.rows, task.columns, task.stages, task.passes = (
            self.rows,
            self.columns,
            stages,
            self.passes,
        )
        task.writes, task.reloaded = written, self.reloaded
        task.cached, task.target = self.cached, self.target
        own = {spec.view.buffer.root for spec in self.reloaded if spec.view}
        task.reads = [buffer for buffer in read if buffer.root not in own]
        task.specs = [stage for stage in stages if isinstance(stage, OutputSpec)]
        return task
