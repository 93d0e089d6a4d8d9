"""Fusion of row kernels: reductions along rows with the computation of their inputs and of their users.

Softmax is one: the maximum of a row, the sum of its exponentials, the quotients. Each pass over a row reads
it again, from the device's cache, and recomputes the elements that it needs, unless reading the output of an
earlier pass is cheaper. ``codegen.keep_values`` of the runtime keeps those of slow functions in local memory.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field, replace

from xpu_runtime.codegen.affine import Coordinates, counters
from xpu_runtime.codegen.kernel import Kernel
from xpu_runtime.codegen.program import Fold, LoopProgram, Section
from xpu_runtime.codegen.statements import Block, Operand, Statement
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

from .emit import Emitter, NeedsMemory, Reader, TooLarge
from .graph import Value
from .pending_kernel import LocateValue, Output, OutputSpec, PendingKernel
from .plan import Buffer, View
from .types import Element

# A value of more statements is reloaded by later passes instead of recomputed.
_EXPENSIVE = 16


@dataclass(eq=False)
class RowReduction:
    """A reduction along rows, in terms of s0, s1, ... and r0, r1, ... as a ``Fold`` is.

    ``time`` is as in OutputSpec. ``rare_headers`` are those of the types in its statements. ``update``
    returns the statements that combine the named elements with s0, s1, .... ``views`` has the memory of each
    result, or None if only the kernel itself uses it.
    """

    time: int
    inputs: list[Value]
    outs: list[Value]
    elements: list[Element]
    identities: list[str]
    combine: list[Statement]
    rare_headers: set[str]
    update: Callable[[list[Operand]], list[Statement]]
    finish: list[Operand]
    views: list[View | None]

    @property
    def stored_results(self) -> list[tuple[int, View]]:
        """The numbers and views of the results that are written to memory."""
        return [(number, view) for number, view in enumerate(self.views) if view is not None]


@dataclass
class Pass:
    """One loop along the row, and the outputs that are computed once per row after it."""

    statements: list[Statement] = field(default_factory=list)
    outputs: list[Output] = field(default_factory=list)
    reductions: list[tuple[int, RowReduction, list[Statement]]] = field(
        default_factory=list
    )  # number, and statements of the update
    after: list[tuple[list[Statement], Output]] = field(default_factory=list)

    def section(self, emitter: Emitter) -> Section:
        """Return the pass as a section of a loop program."""
        stores = [output.store(emitter) for output in self.outputs]
        per_row: list[Statement] = [
            Output(f"f{fold}_{k}", view).store(emitter)
            for fold, reduction, _ in self.reductions
            for k, view in reduction.stored_results
        ]
        for statements, output in self.after:
            per_row.append(Block([*statements, output.store(emitter)]))
        folds = [
            Fold(
                tuple(f"f{fold}_{k}" for k in range(len(reduction.elements))),
                tuple(element.math for element in reduction.elements),
                tuple(reduction.identities),
                update,
                reduction.combine,
                tuple(reduction.finish),
            )
            for fold, reduction, update in self.reductions
        ]
        return Section([*self.statements, *stores], folds, per_row)


@dataclass(eq=False)
class PendingRowKernel(PendingKernel):
    """A pending kernel over rows (the leading dimensions) and columns (the reduced dimensions)."""

    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    stages: list[RowReduction | OutputSpec] = field(default_factory=list)
    passes: list[Pass] = field(default_factory=list)
    reloaded: list[OutputSpec] = field(default_factory=list)  # outputs that later passes read

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the inputs of the reductions; stored reductions have only the rows."""
        return (*self.rows, *self.columns)

    @property
    def is_fusible(self) -> bool:
        """Always True: the stages are kept, and a fused kernel is written from them."""
        return True

    def written_views(self) -> list[View]:
        """Return the views of all outputs and stored reductions."""
        reductions = [stage for stage in self.stages if isinstance(stage, RowReduction)]
        stored = [view for reduction in reductions for _, view in reduction.stored_results]
        return super().written_views() + stored

    def write(self, target: Target) -> Kernel:
        """Write the kernel's code."""
        emitter = self.emitter
        sections = [p.section(emitter) for p in self.passes]
        arrays = emitter.arrays(self.written_views())
        program = LoopProgram(arrays, self.shape, len(self.rows), sections, headers=emitter.headers)
        return write(program, target)

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
) -> PendingRowKernel:
    """Create the row kernel of one reduction."""
    return _Writer(rows, columns, set(), locate).write([reduction])


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
        return _Writer(rows.rows, rows.columns, produced, locate).write(stages)
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
    writer = _Writer(kernel.rows, kernel.columns, kernel.produced_buffers(), locate)
    return writer.write(stages)


def _is_whole(kernel: PendingKernel, rows: PendingRowKernel) -> bool:
    return kernel.shape == rows.shape


def _is_of_rows(kernel: PendingKernel, rows: PendingRowKernel) -> bool:
    leading = len(rows.rows)
    return kernel.shape[:leading] == rows.rows and all(size == 1 for size in kernel.shape[leading:])


class _RowEmitter(Emitter):
    """Also knows which results of passes its statements use, and what they read again."""

    def __init__(self, locate: Callable[[Value], View | None]) -> None:
        super().__init__(locate)
        self.used: set[int] = set()  # the passes whose reductions the current stage uses
        self.reloaded: list[OutputSpec] = []

    def begin(self) -> None:
        """Begin with no statements and no known elements."""
        fresh = Emitter(self.locate)
        self.statements, self.size = fresh.statements, 0
        self.elements, self.definitions = fresh.elements, fresh.definitions


@dataclass
class _Writer:
    """Emits the statements of a row kernel's passes."""

    rows: tuple[int, ...]
    columns: tuple[int, ...]
    produced: set[Buffer]
    locate: LocateValue

    def write(self, stages: list[RowReduction | OutputSpec]) -> PendingRowKernel:
        """Return the kernel of these stages, in as few passes as possible."""
        self.emitter = _RowEmitter(self._locate)
        self.whole = counters((*self.rows, *self.columns))
        self.own = counters(self.rows)
        self.passes = [Pass()]
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

    def _draft(self) -> _RowEmitter:
        """Return a copy of the statements so far, to be extended and then committed or dropped."""
        draft = self.emitter.copy(self._locate)
        assert isinstance(draft, _RowEmitter)
        draft.used.clear()
        return draft

    def _write_in_pass(self, number: int, stage: RowReduction | OutputSpec) -> None:
        """Add a stage to the last pass, or to a new one if it needs a result of the last one."""
        draft = self._draft()
        commit = self._write_stage(draft, number, stage)
        if len(self.passes) - 1 in draft.used:
            draft = self._draft()
            draft.begin()
            self.passes.append(Pass())
            commit = self._write_stage(draft, number, stage)
        self.emitter = draft
        self.passes[-1].statements = draft.statements
        commit(self.passes[-1])

    def _write_stage(
        self, emitter: _RowEmitter, number: int, stage: RowReduction | OutputSpec
    ) -> Callable[[Pass], None]:
        """Emit a stage's elements; return the function that adds the stage to its pass."""
        if isinstance(stage, RowReduction):
            emitter.require_headers(*stage.rare_headers)
            update = stage.update([emitter.value(value, self.whole) for value in stage.inputs])
            for index, value in enumerate(stage.outs):
                emitter.registers[value] = self._result(
                    f"f{number}_{index}", value, len(self.passes) - 1
                )
                emitter.elements.pop((value, self.own), None)
            return lambda present: present.reductions.append((number, stage, update))
        begin = emitter.size
        output = stage.write(emitter)
        if stage.value is not None and emitter.size - begin > _EXPENSIVE:
            emitter.registers[stage.value] = self._reload(stage)
        return lambda present: present.outputs.append(output)

    def _write_after(self, spec: OutputSpec) -> None:
        """Emit an output that is computed once per row."""
        draft, before = self._draft(), self.emitter
        draft.begin()
        output = spec.write(draft)
        self.passes[-1].after.append((draft.statements, output))
        # The pass goes on with its own statements.
        draft.statements, draft.size = before.statements, before.size
        draft.elements, draft.definitions = before.elements, before.definitions
        self.emitter = draft

    def _result(self, name: str, value: Value, number: int) -> Reader:
        def read(emitter: Emitter, at: Coordinates) -> str:
            if at != self.own:
                raise NeedsMemory(value)
            assert isinstance(emitter, _RowEmitter)
            emitter.used.add(number)
            return name

        return read

    def _reload(self, spec: OutputSpec) -> Reader:
        def read(emitter: Emitter, at: Coordinates) -> str:
            assert spec.value is not None
            assert spec.view is not None
            assert isinstance(emitter, _RowEmitter)
            if at != self.whole:
                raise NeedsMemory(spec.value)
            if spec not in emitter.reloaded:
                emitter.reloaded.append(spec)
            return emitter.load(spec.view, at)

        return read

    def _make_kernel(self, stages: list[RowReduction | OutputSpec]) -> PendingRowKernel:
        emitter = self.emitter
        outputs = [output for p in self.passes for output in p.outputs]
        outputs += [output for p in self.passes for _, output in p.after]
        kernel = PendingRowKernel("kernel", {}, emitter=emitter, outputs=outputs)
        kernel.rows, kernel.columns, kernel.stages, kernel.passes = (
            self.rows,
            self.columns,
            stages,
            self.passes,
        )
        views = kernel.written_views()
        for view in views:
            emitter.argument(view.buffer, view.element)
        kernel.writes = list(dict.fromkeys(view.buffer for view in views))
        kernel.reloaded = emitter.reloaded
        read = dict.fromkeys(view.buffer for _, view, _ in emitter.loads)
        own = {spec.view.buffer.root for spec in kernel.reloaded if spec.view}
        kernel.reads = [buffer for buffer in read if buffer.root not in own]
        kernel.specs = [stage for stage in stages if isinstance(stage, OutputSpec)]
        return kernel
