"""Fusion of row kernels: reductions along rows with the computation of their inputs and of their users.

Softmax is one: the maximum of a row, the sum of its exponentials, the quotients. Each pass over a row reads
it again, from the device's cache, and recomputes the elements that it needs, unless reading the output of an
earlier pass is cheaper. ``codegen.keep_values`` of the runtime keeps those of slow functions in local memory.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field, replace

from xpu_runtime.codegen.affine import Coordinates, counters

from .graph import Value
from .pending_kernel import FusibleKernel, Output, Reads
from .plan import Buffer, View
from .reducers import Reducer
from .walk import HasElement, Locate, Walk

# A value of more statements is reloaded by later passes instead of recomputed.
_EXPENSIVE = 16


@dataclass(eq=False)
class RowReduction:
    """A reduction along rows.

    ``reads`` is as in Output. ``views`` has the memory of each result, or None if only the kernel itself uses
    it.
    """

    reads: dict[Value, View]
    inputs: list[Value]
    outs: list[Value]
    reducer: Reducer
    views: list[View | None]

    @property
    def stored_results(self) -> list[tuple[int, View]]:
        """The numbers and views of the results that are written to memory."""
        return [(number, view) for number, view in enumerate(self.views) if view is not None]


Stage = RowReduction | Output


@dataclass(eq=False)
class RowKernel(FusibleKernel):
    """A pending kernel over rows (the leading dimensions) and columns (the reduced dimensions)."""

    rows: tuple[int, ...] = ()
    columns: tuple[int, ...] = ()
    stages: list[Stage] = field(default_factory=list)
    passes: list[int] = field(default_factory=list)  # the number of each stage's pass
    reloadable: set[Output] = field(
        default_factory=set
    )  # outputs that later passes load, not compute
    reloaded: set[Output] = field(default_factory=set)  # those that a later pass does load

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape of the inputs of the reductions; stored reductions have only the rows."""
        return (*self.rows, *self.columns)

    def is_per_row(self, stage: Stage) -> bool:
        """Return True for an output that is computed once per row, after the row's pass."""
        return isinstance(stage, Output) and stage.value.shape != self.shape

    def written_views(self) -> list[View]:
        """Return the views of all outputs and stored reductions."""
        reductions = [stage for stage in self.stages if isinstance(stage, RowReduction)]
        stored = [view for reduction in reductions for _, view in reduction.stored_results]
        return super().written_views() + stored

    def produced_buffers(self) -> set[Buffer]:
        """Return the buffers of all reductions and outputs that go to memory, each written completely."""
        found = super().produced_buffers()
        for stage in self.stages:
            if isinstance(stage, RowReduction):
                found.update(view.buffer.root for _, view in stage.stored_results)
        return found


def lower_rows(
    reduction: RowReduction, rows: tuple[int, ...], columns: tuple[int, ...], locate: Locate
) -> RowKernel | None:
    """Return the kernel of one reduction, which reads what ``locate`` finds; None if there is none."""
    walk = Walk(locate)
    for value in reduction.inputs:
        walk.visit(value, counters((*rows, *columns)))
    reduction.reads = walk.reads
    return walk_rows(rows, columns, [reduction], set()) if walk.is_possible else None


def fuse_rows(
    first: FusibleKernel, second: FusibleKernel, computed: set[Buffer]
) -> RowKernel | None:
    """Fuse two kernels, at least one of them a row kernel; return None if their rows or columns differ."""
    rows = first if isinstance(first, RowKernel) else second
    assert isinstance(rows, RowKernel)
    stages: list[Stage] = []
    for kernel in (first, second):
        if isinstance(kernel, RowKernel):
            if (kernel.rows, kernel.columns) != (rows.rows, rows.columns):
                return None
            stages += kernel.stages
        elif _is_whole(kernel, rows) or _is_of_rows(kernel, rows):
            stages += kernel.outputs
        else:
            return None
    return walk_rows(rows.rows, rows.columns, stages, computed)


def drop_unread_outputs(kernel: RowKernel, read: set[Buffer]) -> RowKernel:
    """Return the kernel without the outputs that no step reads."""

    def wanted(view: View) -> bool:
        return view.buffer.kind != "temporary" or view.buffer.root in read

    stages: list[Stage] = []
    reads, is_changed = Reads(set()), False
    for stage in kernel.stages:
        reads.add(stage.reads)  # what is computed from dropped outputs reads them too
        found = dict(reads.found)
        if isinstance(stage, RowReduction):
            views = [v if v is not None and wanted(v) else None for v in stage.views]
            is_changed |= views != stage.views
            stages.append(replace(stage, views=views, reads=found))
        elif not stage.is_whole or stage in kernel.reloaded or wanted(stage.view):
            stages.append(replace(stage, reads=found))
    if len(stages) == len(kernel.stages) and not is_changed:
        return kernel
    fewer = walk_rows(kernel.rows, kernel.columns, stages, kernel.produced_buffers())
    assert fewer is not None, "fewer outputs need no more memory"
    return fewer


def _is_whole(kernel: FusibleKernel, rows: RowKernel) -> bool:
    return kernel.shape == rows.shape


def _is_of_rows(kernel: FusibleKernel, rows: RowKernel) -> bool:
    leading = len(rows.rows)
    return kernel.shape[:leading] == rows.rows and all(size == 1 for size in kernel.shape[leading:])


def walk_rows(
    rows: tuple[int, ...], columns: tuple[int, ...], stages: list[Stage], computed: set[Buffer]
) -> RowKernel | None:
    """Return the row kernel of these stages, in as few passes as possible; None if there is none."""
    outputs = [stage for stage in stages if isinstance(stage, Output)]
    kernel = RowKernel("kernel", {}, outputs=outputs, rows=rows, columns=columns, stages=stages)
    kernel.computed = computed
    kernel.walk = walk = _RowWalk(Reads(computed), kernel)
    for stage in stages:
        walk.visit_stage(stage)
        if not walk.is_possible:
            return None
    views = kernel.written_views()
    for view in views:
        walk.add_array(view)
    kernel.writes = list(dict.fromkeys(view.buffer for view in views))
    own = {output.view.buffer.root for output in kernel.reloaded}
    kernel.reads = [buffer for buffer in walk.read_buffers if buffer.root not in own]
    return kernel if walk.is_possible else None


class _RowWalk(Walk):
    """Divides the stages of a kernel into passes."""

    def __init__(self, reads: Reads, kernel: RowKernel) -> None:
        super().__init__(reads)
        self.reads_of_stages, self.kernel = reads, kernel
        self.whole, self.own = counters(kernel.shape), counters(kernel.rows)
        self.last_pass = 0
        self.uses_last_pass = False  # a result of the last pass

    def visit_stage(self, stage: Stage) -> None:
        """Add a stage to the last pass, or to a new one if it needs a result of the last one."""
        self.reads_of_stages.add(stage.reads)
        if self.kernel.is_per_row(stage):
            with self._own_statements():
                self._visit(stage)
        else:
            self.uses_last_pass = False
            loads = len(self.loads)
            size = self._visit(stage)
            if self.uses_last_pass:
                self.last_pass += 1
                del self.loads[loads:]
                self.visited, self.loaded, self.size = set(), set(), 0
                size = self._visit(stage)
            self._keep_in_registers(stage, size)
        self.kernel.passes.append(self.last_pass)

    def _visit(self, stage: Stage) -> int:
        """Visit a stage's elements; return the number of their statements."""
        before = self.size
        if isinstance(stage, RowReduction):
            for value in stage.inputs:
                self.visit(value, self.whole)
        else:
            stage.walk(self)
        return self.size - before

    @contextmanager
    def _own_statements(self) -> Iterator[None]:
        """Visit elements in the block that statements outside of the pass compute."""
        of_pass = self.visited, self.loaded, self.size
        self.visited, self.loaded, self.size = set(), set(), 0
        yield
        self.visited, self.loaded, self.size = of_pass

    def _keep_in_registers(self, stage: Stage, size: int) -> None:
        if isinstance(stage, RowReduction):
            for value in stage.outs:
                self.registers[value] = self._result(self.last_pass)
        elif stage.is_whole and size > _EXPENSIVE:
            self.kernel.reloadable.add(stage)
            self.registers[stage.value] = self._reload(stage)

    def _result(self, number: int) -> HasElement:
        """Return whether a coordinate is that of a pass's result, and note its use."""

        def has(at: Coordinates) -> bool:
            self.uses_last_pass |= number == self.last_pass
            return at == self.own

        return has

    def _reload(self, output: Output) -> HasElement:
        def has(at: Coordinates) -> bool:
            self.kernel.reloaded.add(output)
            self.load(output.view, at)
            return at == self.whole

        return has
