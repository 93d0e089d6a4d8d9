"""Kernels that wait for another work-group."""

from __future__ import annotations

from ..errors import UnsupportedKernelError
from .program import Block, Op, Value, walk

_ATOMIC = ("tt.atomic_rmw", "tt.atomic_cas")


def reject_spins(body: Block) -> None:
    """Raise UnsupportedKernelError if a loop ends only when another work-group does something."""
    for op in walk(body):
        if op.name == "scf.while":
            awaited = _awaited(op)
            if awaited is not None:
                raise UnsupportedKernelError(
                    awaited.name,
                    "a loop waits here for another work-group, which on some devices begins only when this "
                    "one has ended; split the kernel in two, or let the last work-group that counts "
                    "itself do the rest",
                    awaited.location,
                )


def _awaited(loop: Op) -> Op | None:
    """Return the operation whose result from memory ends a loop, if no trip changes what it reads."""
    before, after = (region.blocks[0] for region in loop.regions)
    inner = [*walk(before), *walk(after)]
    stores = any(op.name == "tt.store" for op in inner)
    passed = dict(zip(before.arguments, after.terminator.operands, strict=True))
    passed |= dict(zip(after.arguments, before.terminator.operands[1:], strict=True))
    inside = set(inner)
    for value in _sources(before.terminator.operands[0], passed, inside):
        op = value.op
        if op is None or op not in inside:
            continue
        if op.name in _ATOMIC:
            return op
        if op.name == "tt.load" and (op.attributes.get("isVolatile") or not stores):
            address = _sources(op.operands[0], passed, inside)
            if op.attributes.get("isVolatile") or not address & passed.keys():
                return op
    return None


def _sources(value: Value, passed: dict[Value, Value], inside: set[Op]) -> set[Value]:
    """Return the values of a loop that a value is computed from, trips before this one included."""
    found: set[Value] = set()
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if item in found:
            continue
        found.add(item)
        if item in passed:
            waiting.append(passed[item])
        elif item.op is not None and item.op in inside:
            waiting += item.op.operands
            for region in item.op.regions:
                for block in region.blocks:
                    waiting += block.terminator.operands
    return found
