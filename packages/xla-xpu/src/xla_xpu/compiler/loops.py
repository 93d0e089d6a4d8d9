"""Write the statements of pending kernels, as loop programs."""

from __future__ import annotations

from collections.abc import Iterable

from xpu_runtime.codegen.program import LoopProgram, Section

from .emit import Emitter
from .pending_kernel import CustomKernel, FusibleKernel, PendingKernel, Reads
from .pending_reduction import PendingReduction
from .pending_rows import RowKernel
from .plan import Step
from .reduction_fields import reduction_fields
from .row_loops import row_sections


def write_loops(steps: Iterable[Step]) -> dict[PendingKernel, LoopProgram]:
    """Return the loop programs of all kernels, and set their arguments; complete the runtime's reductions."""
    programs = {}
    for step in (inner for top in steps for inner in top.all_steps()):
        if isinstance(step, PendingReduction):
            step.fields |= reduction_fields(step)
        elif isinstance(step, PendingKernel):
            programs[step] = _program(step)
    return programs


def _program(kernel: PendingKernel) -> LoopProgram:
    if isinstance(kernel, CustomKernel):
        emitter, shape = Emitter(kernel.found.get), kernel.views[0].shape
        parallel_dims, sections = len(shape), [_custom_section(kernel, emitter)]
    elif isinstance(kernel, RowKernel):
        reads = Reads(kernel.computed)
        emitter, shape, parallel_dims = Emitter(reads), kernel.shape, len(kernel.rows)
        sections = row_sections(kernel, emitter, reads)
    else:
        assert isinstance(kernel, FusibleKernel)
        reads = Reads(kernel.computed)
        emitter, shape, parallel_dims = Emitter(reads), kernel.shape, len(kernel.shape)
        sections = [_section(kernel, emitter, reads)]
    arrays = emitter.arrays(kernel.written_views())
    kernel.arguments = [buffer for buffer, _ in emitter.buffers]
    return LoopProgram(arrays, shape, parallel_dims, sections, headers=emitter.headers)


def _custom_section(kernel: CustomKernel, emitter: Emitter) -> Section:
    values = kernel.write(emitter)
    stores = [emitter.store(v, value) for v, value in zip(kernel.views, values, strict=True)]
    return Section([*emitter.statements, *stores])


def _section(kernel: FusibleKernel, emitter: Emitter, reads: Reads) -> Section:
    stores = []
    for output in kernel.outputs:
        reads.add(output.reads)
        stores.append(emitter.output(output))
    return Section([*emitter.statements, *stores])
