"""Fuse pending kernels.

Two kernels over one shape become one if no step between them conflicts. The fused kernel does not read what
it computes itself, and does not write what no other step reads.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from .pending_kernel import FusibleKernel, Reads, walk_outputs
from .pending_rows import RowKernel, drop_unread_outputs, fuse_rows
from .plan import Buffer, Step
from .walk import MAX_LINES

# The maximum number of steps between two that are fused. More steps are seldom between partners.
_WINDOW = 64


def fuse_kernels(steps: list[Step]) -> None:
    """Fuse the kernels of a block, and of the bodies of its loops and branches."""
    for step in steps:
        for body in step.bodies:
            fuse_kernels(body)
    at, conflicts = 0, _Conflicts()
    while at < len(steps):
        step = steps[at]
        if isinstance(step, FusibleKernel):
            at = _fuse_back(steps, at, conflicts)
        at += 1


def _fuse_back(steps: list[Step], at: int, conflicts: _Conflicts) -> int:
    """Fuse a kernel with the nearest earlier one that allows it; return the index before the next step."""
    second = steps[at]
    assert isinstance(second, FusibleKernel)
    between, up = _Access(set(), set()), True
    for back in range(at - 1, max(-1, at - 1 - _WINDOW), -1):
        first = steps[back]
        fused = None
        free = up or not between.conflicts(conflicts.of(first))
        if free and isinstance(first, FusibleKernel):
            fused = _fused(first, second)
        if fused is None:
            up = up and not conflicts.of(first).conflicts(conflicts.of(second))
            between.add(conflicts.of(first))
            continue
        del steps[at]
        if up:
            steps[back] = fused
        else:
            del steps[back]
            steps.insert(at - 1, fused)
        return at - 1
    return at


@dataclass(frozen=True)
class _Access:
    """The buffers that steps write, and all that they access."""

    written: set[Buffer]
    used: set[Buffer]

    def conflicts(self, other: _Access) -> bool:
        """Return True if the order of the two matters."""
        return not (self.written.isdisjoint(other.used) and other.written.isdisjoint(self.used))

    def add(self, other: _Access) -> None:
        self.written.update(other.written)
        self.used.update(other.used)


class _Conflicts:
    """The accesses of each step, cached."""

    def __init__(self) -> None:
        self.touched: dict[Step, _Access] = {}

    def of(self, step: Step) -> _Access:
        if step not in self.touched:
            every = list(step.all_steps())
            written = {buffer.root for inner in every for buffer in inner.writes}
            read = {buffer.root for inner in every for buffer in inner.reads}
            self.touched[step] = _Access(written, written | read)
        return self.touched[step]


def _fused(first: FusibleKernel, second: FusibleKernel) -> FusibleKernel | None:
    produced = first.produced_buffers()
    written = {buffer.root for buffer in second.writes}
    if any(b.root in written for b in (*first.reads, *first.writes)):
        return None
    if any(b.root not in produced for b in _common(first.writes, second.reads)):
        return None
    produced |= second.produced_buffers()
    if isinstance(first, RowKernel) or isinstance(second, RowKernel):
        return fuse_rows(first, second, produced)
    if first.shape != second.shape:
        return None
    sizes = first.walk.size, second.walk.size
    # Two large computations share values only through memory; fused they would be too large.
    if min(sizes) > MAX_LINES // 2:
        return None
    kernel = walk_outputs(second.outputs, produced, after=first)
    # More statements than both had: fusing would compute something twice.
    return None if kernel is None or kernel.walk.size > sum(sizes) else kernel


def _common(written: list[Buffer], read: list[Buffer]) -> list[Buffer]:
    roots = {buffer.root for buffer in read}
    return [buffer for buffer in written if buffer.root in roots]


def drop_unread(steps: list[Step]) -> None:
    """Drop the outputs of kernels that no step reads."""
    read = {buffer.root for top in steps for step in top.all_steps() for buffer in step.reads}
    _drop_in(steps, read)


def _drop_in(steps: list[Step], read: set[Buffer]) -> None:
    for index, step in enumerate(steps):
        for body in step.bodies:
            _drop_in(body, read)
        if isinstance(step, RowKernel):
            steps[index] = drop_unread_outputs(step, read)
        elif isinstance(step, FusibleKernel):
            steps[index] = _drop_outputs(step, read)


def _drop_outputs(kernel: FusibleKernel, read: set[Buffer]) -> FusibleKernel:
    wanted, reads = [], Reads(set())
    for output in kernel.outputs:
        reads.add(output.reads)
        if output.view.buffer.kind != "temporary" or output.view.buffer.root in read:
            # It may be computed from dropped ones.
            wanted.append(replace(output, reads=dict(reads.found)))
    if not wanted or len(wanted) == len(kernel.outputs):
        return kernel
    fewer = walk_outputs(wanted, kernel.produced_buffers())
    assert fewer is not None, "fewer outputs need no more memory"
    return fewer
