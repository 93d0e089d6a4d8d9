"""Fusion of row kernels: reductions along rows with the computation of their inputs and of their users.

Softmax is one: the maximum of a row, the sum of its exponentials, the quotients. Each pass over a row reads
it again, from the device's cache, and recomputes the elements that it needs, unless reading is cheaper:
then it reads the output of an earlier pass, and values of slow functions from local memory.
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

# A value of more statements is reloaded by later passes instead of recomputed.
_EXPENSIVE = 16

# Operations that cost more than a write to local memory and a read.
_SLOW = frozenset(
    ["atan2", "cbrt", "cosine", "exponential", "exponential_minus_one", "log"]
) | frozenset(["log_plus_one", "logistic", "power", "sine", "tan", "tanh"])


@dataclass(eq=False)
class RowReduction:
    """A reduction along rows, as expressions of s0, s1, ... and r0, r1, ... like the runtime's reductions.

    ``time`` is as in OutputSpec. ``update`` returns the statements that combine the named elements with
    s0, s1, .... ``views`` has the memory of each result, or None if only the kernel itself uses it.
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
        """The numbers and views of the results that are written to memory."""
        return [(number, view) for number, view in enumerate(self.views) if view is not None]


@dataclass(frozen=True)
class CachedValue:
    """A value of each element that pass ``number`` saves in local memory for later passes."""

    name: str
    element: Element
    number: int
    variable: str


@dataclass
class Pass:
    """One loop along the row, and the statements that run once per row after it."""

    lines: list[str] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    reductions: list[tuple[int, RowReduction, str]] = field(
        default_factory=list
    )  # number, and text of the update
    after: list[tuple[list[str], Output]] = field(default_factory=list)


@dataclass(eq=False)
class PendingRowKernel(PendingKernel):
    """A pending kernel over rows (the leading dimensions) and columns (the reduced dimensions)."""

    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    stages: list[RowReduction | OutputSpec] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)
    reloaded: list[OutputSpec] = field(default_factory=list)  # outputs that later passes read
    cached: list[CachedValue] = field(default_factory=list)
    target: Target = field(init=False)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the inputs of the reductions; stored reductions have only the rows."""
        return (*self.rows, *self.columns)

    @property
    def is_fusible(self) -> bool:
        """Always True: the stages are kept, and a fused kernel is written from them."""
        return True

    def produced_buffers(self) -> set[Buffer]:
        """Return the buffers of all reductions and outputs that go to memory, each written completely."""
        found: set[Buffer] = set()
        for stage in self.stages:
            if isinstance(stage, RowReduction):
                found.update(view.buffer.root for _, view in stage.stored_results)
            elif stage.view is not None:
                found.add(stage.view.buffer.root)
        return found


def make_row_reduction(
    reduction: RowReduction,
    rows: tuple[int, ...],
    columns: tuple[int, ...],
    locate: LocateValue,
    target: Target,
) -> PendingRowKernel:
    """Create the row kernel of one reduction."""
    return _Writer(rows, columns, target, set(), locate).write([reduction])


def fuse_rows(
    first: PendingKernel, second: PendingKernel, produced: set[Buffer], locate: LocateValue
) -> PendingRowKernel | None:
    """Fuse two kernels, at least one of them a row kernel; return None if their rows or columns differ."""
    rows = first if isinstance(first, PendingRowKernel) else second
    assert isinstance(rows, PendingRowKernel)
    stages: list[RowReduction | OutputSpec] = []
    for kernel in (first, second):
        if isinstance(kernel, PendingRowKernel):
            if (kernel.rows, kernel.columns) != (rows.rows, rows.columns):
                return None
            stages += kernel.stages
        elif _is_whole(kernel, rows) or _is_of_rows(kernel, rows):
            stages += kernel.specs
        else:
            return None
    try:
        return _Writer(rows.rows, rows.columns, rows.target, produced, locate).write(stages)
    except (NeedsMemory, TooLarge):
        return None


def drop_unread_outputs(
    kernel: PendingRowKernel, read: set[Buffer], locate: LocateValue
) -> PendingRowKernel:
    """Return the kernel without the outputs that no step reads."""

    def wanted(view: View) -> bool:
        return view.buffer.kind != "temporary" or view.buffer.root in read

    stages: list[RowReduction | OutputSpec] = []
    for stage in kernel.stages:
        if isinstance(stage, RowReduction):
            views = [v if v is not None and wanted(v) else None for v in stage.views]
            stages.append(stage if views == stage.views else replace(stage, views=views))
        elif stage.view is None or stage in kernel.reloaded or wanted(stage.view):
            stages.append(stage)
    if stages == kernel.stages:
        return kernel
    return _Writer(
        kernel.rows, kernel.columns, kernel.target, kernel.produced_buffers(), locate
    ).write(stages)


def _is_whole(kernel: PendingKernel, rows: PendingRowKernel) -> bool:
    return kernel.shape == rows.shape


def _is_of_rows(kernel: PendingKernel, rows: PendingRowKernel) -> bool:
    leading = len(rows.rows)
    return kernel.shape[:leading] == rows.rows and all(size == 1 for size in kernel.shape[leading:])


@dataclass
class _Writer:
    """Emits the statements of a row kernel's passes."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    target: Target
    produced: set[Buffer]
    locate: LocateValue

    def write(self, stages: list[RowReduction | OutputSpec]) -> PendingRowKernel:
        """Return the kernel of these stages, in as few passes as possible."""
        self.emitter = Emitter(self._locate)
        self.whole = counters((*self.rows, *self.columns))
        self.own = counters(self.rows)
        self.passes = [Pass()]
        self.used: set[int] = set()  # the passes whose reductions the current statements use
        self.reloaded: list[OutputSpec] = []
        self.cached: list[CachedValue] = []
        for number, stage in enumerate(stages):
            self.time = stage.time
            if isinstance(stage, OutputSpec) and not self._is_per_element(stage):
                self._write_after(stage)
            else:
                self._write_in_pass(number, stage)
        return self._make_kernel(stages)

    def _locate(self, value: Value) -> View | None:
        view = self.locate(value, self.time)
        return None if view is None or view.buffer.root in self.produced else view

    def _is_per_element(self, spec: OutputSpec) -> bool:
        """Return True if the output has an element for each element of the row, not one per row."""
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
        # The stage needs a result of this pass, so it goes into a new one.
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
        """Let later passes read values of slow functions from local memory, as long as they fit."""
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
        """Emit an output that is computed once per row."""
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

    def _make_kernel(self, stages: list[RowReduction | OutputSpec]) -> PendingRowKernel:
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
        kernel = PendingRowKernel("kernel", {}, emitter=self.emitter, outputs=outputs)
        kernel.rows, kernel.columns, kernel.stages, kernel.passes = (
            self.rows,
            self.columns,
            stages,
            self.passes,
        )
        kernel.writes, kernel.reloaded = written, self.reloaded
        kernel.cached, kernel.target = self.cached, self.target
        own = {spec.view.buffer.root for spec in self.reloaded if spec.view}
        kernel.reads = [buffer for buffer in read if buffer.root not in own]
        kernel.specs = [stage for stage in stages if isinstance(stage, OutputSpec)]
        return kernel
