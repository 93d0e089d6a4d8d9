"""Pending kernels, whose code is not written yet, so that they can be fused."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, field

from xpu_runtime.codegen.affine import Affine, counters, dot
from xpu_runtime.codegen.kernel import Kernel
from xpu_runtime.codegen.program import LoopProgram, Section
from xpu_runtime.codegen.statements import Operand, Store
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write

from .emit import Emitter
from .graph import Value
from .plan import Buffer, Step, View

# Returns a value's view at a time of the lowering, or None if it had none then.
LocateValue = Callable[[Value, int], View | None]

_NO_SHIFT = Affine()


@dataclass(frozen=True)
class Output:
    """An output: the computed element, and its view, offset by ``shift``."""

    value: Operand
    view: View
    shift: Affine = _NO_SHIFT

    def store(self, emitter: Emitter) -> Store:
        """Return the store of the element of the loop counters."""
        view = self.view
        place = dot(counters(view.shape), view.strides) + view.offset + self.shift
        return emitter.store(view, place, self.value)


@dataclass(frozen=True)
class OutputSpec:
    """An output of a kernel: ``write`` emits one element.

    ``time`` is the lowering's clock when the output was added: values that got memory later may be written by
    later steps. ``view`` holds all of ``value``, unless they are None.
    """

    write: Callable[[Emitter], Output]
    shape: tuple[int, ...]
    time: int
    value: Value | None = None
    view: View | None = None


@dataclass(eq=False)
class PendingKernel(Step):
    """A kernel whose source is not written yet, so that it can be fused with others."""

    specs: list[OutputSpec] = field(default_factory=list)
    emitter: Emitter = field(default_factory=lambda: Emitter(lambda value: None))
    outputs: list[Output] = field(default_factory=list)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape over which the kernel loops, which all its outputs have."""
        return self.outputs[0].view.shape

    @property
    def is_fusible(self) -> bool:
        """True if the kernel may be fused with others."""
        return bool(self.specs)

    def written_views(self) -> list[View]:
        """Return the views of all outputs."""
        return [output.view for output in self.outputs]

    def arguments(self) -> list[Buffer]:
        """Return the buffers of the kernel's arrays, in the order of its arguments."""
        return [buffer for buffer, _ in self.emitter.buffers]

    def write(self, target: Target) -> Kernel:
        """Write the kernel's code."""
        emitter = self.emitter
        statements = [*emitter.statements, *(output.store(emitter) for output in self.outputs)]
        arrays, shape = emitter.arrays(self.written_views()), self.shape
        program = LoopProgram(
            arrays, shape, len(shape), [Section(statements)], headers=emitter.headers
        )
        return write(program, target)

    def produced_buffers(self) -> set[Buffer]:
        """Return the buffers that the kernel computes completely."""
        pairs = zip(self.specs, self.outputs, strict=True)
        return {output.view.buffer.root for spec, output in pairs if spec.value is not None}


def make_pending_kernel(
    specs: list[OutputSpec], emitter: Emitter, outputs: list[Output]
) -> PendingKernel:
    """Create a pending kernel from outputs that were emitted."""
    kernel = PendingKernel("kernel", {}, specs=specs, emitter=emitter, outputs=outputs)
    written = [output.view.buffer for output in outputs] + [v.buffer for _, v in emitter.stores]
    kernel.writes = list(dict.fromkeys(written))
    kernel.reads = list(dict.fromkeys(view.buffer for _, view, _ in emitter.loads))
    return kernel


def write_outputs(
    specs: list[OutputSpec],
    produced: set[Buffer],
    locate: LocateValue,
    after: PendingKernel | None = None,
) -> PendingKernel:
    """Emit one kernel of all specs, which does not read buffers in ``produced``.

    ``after`` is a kernel to extend; it must not access buffers that these specs write.
    """
    time = 0

    def locate_outside(value: Value) -> View | None:
        view = locate(value, time)
        return None if view is None or view.buffer.root in produced else view

    emitter = after.emitter.copy(locate_outside) if after else Emitter(locate_outside)
    outputs = list(after.outputs) if after else []
    for spec in specs:
        time = spec.time
        outputs.append(spec.write(emitter))
    for output in outputs:
        emitter.argument(output.view.buffer, output.view.element)
    return make_pending_kernel([*after.specs, *specs] if after else specs, emitter, outputs)
