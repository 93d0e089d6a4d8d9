"""Pending kernels, whose statements are not written yet, so that they can be fused."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from xpu_runtime.codegen.affine import counters
from xpu_runtime.codegen.statements import Operand

from .graph import Value
from .plan import Buffer, Step, View
from .walk import Walk

if TYPE_CHECKING:
    from .emit import Emitter


@dataclass(frozen=True)
class Start:
    """Where an output begins in one dimension: a scalar, clamped to [0, ``room``], times ``stride``."""

    value: Value
    room: int
    stride: int


@dataclass(frozen=True, eq=False)
class Output:
    """A value that a kernel computes and stores in a view, which holds all of it if it ``is_whole``.

    ``reads`` are the views of what the kernel reads for it. A value that got memory later is not among them:
    later steps may write it.
    """

    value: Value
    view: View
    reads: dict[Value, View]
    starts: tuple[Start, ...] = ()
    is_whole: bool = True

    def walk(self, walk: Walk) -> None:
        """Visit one element of the output."""
        for start in self.starts:
            walk.visit(start.value, ())
            walk.size += 1
        walk.visit(self.value, counters(self.value.shape))


class Reads:
    """The views that outputs read, added in the order of the outputs, except of buffers in ``computed``.

    An output may be computed from an earlier one, and then reads what that reads.
    """

    def __init__(self, computed: set[Buffer], found: dict[Value, View] | None = None) -> None:
        self.computed, self.found = computed, dict(found or {})

    def add(self, reads: dict[Value, View]) -> None:
        """Add what an output reads."""
        self.found |= reads

    def __call__(self, value: Value) -> View | None:
        """Return the view of a value; None if the kernel computes it."""
        view = self.found.get(value)
        return None if view is None or view.buffer.root in self.computed else view


@dataclass(eq=False)
class PendingKernel(Step):
    """A kernel whose statements are not written yet; ``arguments`` are set when they are."""

    arguments: list[Buffer] = field(default_factory=list)

    def read_views(self) -> list[View]:
        """Return the view that each load reads."""
        raise NotImplementedError

    def written_views(self) -> list[View]:
        """Return the views that the kernel writes."""
        raise NotImplementedError


@dataclass(eq=False)
class CustomKernel(PendingKernel):
    """A kernel with statements of its own. ``write`` adds them, and returns what to store in each view.

    ``found`` are the views of what it reads; ``stored`` are those that its own statements write.
    """

    write: Callable[[Emitter], Sequence[Operand]] = lambda emitter: []
    views: list[View] = field(default_factory=list)
    stored: list[View] = field(default_factory=list)
    found: dict[Value, View] = field(default_factory=dict)

    def __post_init__(self) -> None:
        self.reads = list(dict.fromkeys(view.buffer for view in self.read_views()))
        self.writes = list(dict.fromkeys(view.buffer for view in self.written_views()))

    def read_views(self) -> list[View]:
        """Return the views that the kernel reads."""
        return list(self.found.values())

    def written_views(self) -> list[View]:
        """Return the views that the kernel writes."""
        return [*self.views, *self.stored]


@dataclass(eq=False)
class FusibleKernel(PendingKernel):
    """A kernel that computes outputs of one shape, which its walk has visited.

    It computes what is in the buffers ``computed``, and does not read them.
    """

    outputs: list[Output] = field(default_factory=list)
    walk: Walk = field(default_factory=lambda: Walk(lambda value: None))
    computed: set[Buffer] = field(default_factory=set)

    @property
    def shape(self) -> tuple[int, ...]:
        """Shape over which the kernel loops."""
        return self.outputs[0].value.shape

    @property
    def found(self) -> dict[Value, View]:
        """The views that outputs read."""
        return {value: view for output in self.outputs for value, view in output.reads.items()}

    def read_views(self) -> list[View]:
        """Return the view that each load reads."""
        return [view for view, _ in self.walk.loads]

    def written_views(self) -> list[View]:
        """Return the views of all outputs."""
        return [output.view for output in self.outputs]

    def produced_buffers(self) -> set[Buffer]:
        """Return the buffers that the kernel computes completely."""
        return {output.view.buffer.root for output in self.outputs if output.is_whole}


def make_kernel(outputs: list[Output], walk: Walk) -> FusibleKernel:
    """Return the kernel of outputs, whose elements ``walk`` has visited."""
    kernel = FusibleKernel("kernel", {}, outputs=outputs, walk=walk)
    kernel.writes = list(dict.fromkeys(output.view.buffer for output in outputs))
    kernel.reads = walk.read_buffers
    return kernel


def walk_outputs(
    outputs: list[Output], computed: set[Buffer], after: FusibleKernel | None = None
) -> FusibleKernel | None:
    """Return one kernel of all outputs, which does not read buffers in ``computed``; None if there is none.

    ``after`` is a kernel to extend; it must not access buffers that these outputs write.
    """
    reads = Reads(computed, after.found if after else {})
    walk = after.walk.copy(reads) if after else Walk(reads)
    for output in outputs:
        reads.add(output.reads)
        output.walk(walk)
    every = [*after.outputs, *outputs] if after else outputs
    for output in every:
        walk.add_array(output.view)
    if not walk.is_possible:
        return None
    kernel = make_kernel(every, walk)
    kernel.computed = computed
    return kernel
