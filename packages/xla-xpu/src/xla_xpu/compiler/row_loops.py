"""Write the statements of row kernels as loop programs."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field

from xpu_runtime.codegen.affine import Coordinates, counters
from xpu_runtime.codegen.program import Fold, Section
from xpu_runtime.codegen.statements import Block, Statement

from .emit import Emitter, Reader
from .pending_kernel import Output, Reads
from .pending_rows import RowKernel, RowReduction
from .regions import rare_headers


def row_sections(kernel: RowKernel, emitter: Emitter, reads: Reads) -> list[Section]:
    """Add the statements of a row kernel; return a section for each pass."""
    writer = _Writer(kernel, emitter)
    for number, stage in enumerate(kernel.stages):
        reads.add(stage.reads)
        writer.add(number, stage)
    return [written.section() for written in writer.passes]


@dataclass
class _Pass:
    """The statements of one loop along the row, its reductions, and what is done once per row after it."""

    statements: list[Statement] = field(default_factory=list)
    stores: list[Statement] = field(default_factory=list)
    folds: list[Fold] = field(default_factory=list)
    results: list[Statement] = field(default_factory=list)
    after: list[Statement] = field(default_factory=list)

    def section(self) -> Section:
        """Return the pass as a section of a loop program."""
        return Section([*self.statements, *self.stores], self.folds, [*self.results, *self.after])


class _Writer:
    """Writes the passes."""

    def __init__(self, kernel: RowKernel, emitter: Emitter) -> None:
        self.kernel, self.emitter = kernel, emitter
        self.passes: list[_Pass] = []

    def add(self, number: int, stage: RowReduction | Output) -> None:
        """Write a stage, in the pass that the walk chose."""
        emitter = self.emitter
        if self.kernel.passes[number] == len(self.passes):
            _begin(emitter)
            self.passes.append(_Pass(emitter.statements))
        present = self.passes[-1]
        if isinstance(stage, RowReduction):
            self._add_reduction(f"f{number}", stage, present)
        elif self.kernel.is_per_row(stage):
            with self._own_statements() as statements:
                statements.append(emitter.output(stage))
            present.after.append(Block(statements))
        else:
            present.stores.append(emitter.output(stage))
            if stage in self.kernel.reloadable:
                emitter.registers[stage.value] = _reload(stage)

    def _add_reduction(self, name: str, stage: RowReduction, present: _Pass) -> None:
        emitter, at = self.emitter, counters(self.kernel.shape)
        reducer = stage.reducer
        emitter.require_headers(*rare_headers(reducer.region))
        update = reducer.update([emitter.value(value, at) for value in stage.inputs])
        names = tuple(f"{name}_{k}" for k in range(len(reducer.elements)))
        types = tuple(element.math for element in reducer.elements)
        identities, finish = tuple(reducer.identities), tuple(reducer.finish())
        present.folds.append(Fold(names, types, identities, update, reducer.combine(), finish))
        for k, view in stage.stored_results:
            present.results.append(emitter.store(view, names[k]))
        for result, value in zip(names, stage.outs, strict=True):
            emitter.registers[value] = _named(result)

    @contextmanager
    def _own_statements(self) -> Iterator[list[Statement]]:
        """Collect statements outside of the pass, which goes on with its own after the block."""
        emitter = self.emitter
        of_pass = emitter.statements, emitter.elements, emitter.definitions
        _begin(emitter)
        yield emitter.statements
        emitter.statements, emitter.elements, emitter.definitions = of_pass


def _begin(emitter: Emitter) -> None:
    """Begin anew, with no statements and no known elements."""
    fresh = Emitter(emitter.locate)
    emitter.statements = fresh.statements
    emitter.elements, emitter.definitions = fresh.elements, fresh.definitions


def _named(name: str) -> Reader:
    return lambda emitter, at: name


def _reload(output: Output) -> Reader:
    def read(emitter: Emitter, at: Coordinates) -> str:
        return emitter.load(output.view, at)

    return read
