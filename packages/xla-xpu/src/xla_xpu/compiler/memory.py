"""Memory of a plan: removes needless copies, then lets buffers with disjoint lifetimes share memory."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from .plan import Buffer, Step
from .uses import Uses, any_between

# The alignment of the runtime's pool, and the longest vector.
ALIGNMENT = 64


@dataclass
class Life:
    """A lifetime: the first and the last step that access a buffer."""

    first: int
    last: int


def merge_copies(steps: list[Step]) -> None:
    """Merge the two buffers of each copy whose source nobody needs unchanged afterwards."""
    uses = Uses(steps)
    while _merge_in(steps, 0, len(uses.steps), uses):
        pass


def _merge_in(block: list[Step], begin: int, end: int, uses: Uses) -> bool:
    """Merge copies in a block whose steps have the numbers from ``begin`` to ``end``."""
    gone: set[Step] = set()
    merged = False
    for step in block:
        for body in filter(None, step.bodies):
            merged |= _merge_in(body, uses.number[body[0]], uses.end[body[-1]], uses)
    for step in block:
        if step.name != "copy" or not _is_move(step):
            continue
        out, source = step.writes[0].root, step.reads[0].root
        if out is not source:
            if not _may_merge(step, begin, end, uses):
                continue
            uses.join(source, out)
        uses.forget(step)
        gone.add(step)
    if gone:
        block[:] = [step for step in block if step not in gone]
    return merged or bool(gone)


def _is_move(step: Step) -> bool:
    out, source = step.fields["out"], step.fields["in"]
    same = out.element == source.element and out.shape == source.shape
    return same and out.contiguous and source.contiguous and out.offset == source.offset == 0


def _may_merge(copy: Step, begin: int, end: int, uses: Uses) -> bool:
    """Return True if ``source`` can be computed in the memory of ``out``.

    ``source`` must be written and read only in the block of the copy. Between its first write and the copy
    no step may access ``out``, except the step that computes ``source`` from it. After the copy the two must
    stay equal as long as they are read.
    """
    out, source = copy.writes[0].root, copy.reads[0].root
    if (
        source.kind != "temporary"
        or out.kind not in ("temporary", "output")
        or source.bytes != out.bytes
    ):
        return False
    at, touched = uses.number[copy], uses.touched[source]
    first = touched[0]
    if first < begin or touched[-1] >= end or first == at:
        return False
    if not _writes(uses.steps[first], source) or not _makes_of(uses.steps[first], source, out):
        return False
    if any_between(uses.touched[out], first + 1, at):
        return False
    if any_between(uses.written.get(source, []), at + 1, end):
        return False
    read_on = any_between(uses.read.get(source, []), at + 1, end)
    return not (read_on and any_between(uses.written.get(out, []), at + 1, end))


def _makes_of(step: Step, source: Buffer, out: Buffer) -> bool:
    """Return True if a step that writes ``source`` may write ``out`` instead, even if it reads ``out``."""
    if not _touches(step, out):
        return True
    if _writes(step, out):
        return False
    return (step.name == "copy" and _is_move(step)) or any(b.root is out for b in step.in_place)


def reuse_donated(
    buffers: list[Buffer], steps: list[Step], donated: dict[int, int | None]
) -> list[tuple[int, int]]:
    """Let outputs use the memory of donated parameters; return pairs of an output and a parameter.

    ``donated`` maps each parameter to the output that JAX chose for it; None allows any output of its size.
    """
    parameters = {b.place: b for b in buffers if b.kind == "parameter"}
    outputs = {b.place: b for b in buffers if b.kind == "output" and b.root is b and b.bytes}
    pairs = []
    uses = Uses(steps)
    for place, wanted in donated.items():
        for number in [wanted] if wanted is not None else list(outputs):
            if number in outputs and _may_reuse(steps, uses, parameters[place], outputs[number]):
                uses.join(outputs.pop(number), parameters[place])
                pairs.append((number, place))
                break
    merge_copies(steps)  # removes the copies of parameters to outputs that now are the same buffer
    return pairs


def _may_reuse(steps: list[Step], uses: Uses, parameter: Buffer, output: Buffer) -> bool:
    """Return True if no step reads the parameter after the output's first write."""
    if parameter.bytes != output.bytes or output not in uses.touched:
        return False
    first_use = uses.touched[output][0]
    first = steps[bisect_right(steps, first_use, key=uses.number.__getitem__) - 1]
    wanted = uses.touched.get(parameter, [])
    if any_between(wanted, uses.end[first]):
        return False
    return not any_between(wanted, uses.number[first]) or (
        not first.bodies and _makes_of(first, output, parameter)
    )


def _touches(step: Step, buffer: Buffer) -> bool:
    return _reads(step, buffer) or _writes(step, buffer)


def _reads(step: Step, buffer: Buffer) -> bool:
    return any(other.root is buffer for other in step.reads)


def _writes(step: Step, buffer: Buffer) -> bool:
    return any(other.root is buffer for other in step.writes)


def lives(steps: list[Step]) -> dict[Buffer, Life]:
    """Return each buffer's lifetime; one that enters a loop, or is carried, lives through all of it."""
    found: dict[Buffer, Life] = {}
    _live(steps, 0, found)
    return found


def _live(block: list[Step], position: int, found: dict[Buffer, Life]) -> int:
    """Add the lifetimes in a block that begins at ``position``; return where it ends."""
    for step in block:
        begin = position
        position += 1
        _touch(found, step, begin)
        if not step.bodies:
            continue
        for body in step.bodies:
            position = _live(body, position, found)
        for root, read_first in _inside(step).items():
            # Buffers written before the loop, and buffers that a loop carries.
            if found[root].first <= begin or (step.name == "loop" and read_first):
                found[root].first = min(found[root].first, begin)
                found[root].last = max(found[root].last, position)
        position += 1
    return position


def _touch(found: dict[Buffer, Life], step: Step, position: int) -> None:
    for buffer in (*step.reads, *step.writes):
        life = found.setdefault(buffer.root, Life(position, position))
        life.last = max(life.last, position)


def _inside(step: Step) -> dict[Buffer, bool]:
    """Return the buffers that a step and its bodies access, and whether each is read before it is written."""
    found: dict[Buffer, bool] = {}
    for inner in step.all_steps():
        for buffer in inner.reads:
            found.setdefault(buffer.root, True)
        for buffer in inner.writes:
            found.setdefault(buffer.root, False)
    return found


def assign(buffers: list[Buffer], steps: list[Step]) -> int:
    """Assign offsets to temporaries, the largest first, each in the lowest gap; return the total bytes."""
    life = lives(steps)
    temporaries = [b for b in buffers if b.kind == "temporary" and b.root is b and b in life]
    temporaries.sort(key=lambda b: -b.bytes)
    first = np.array([life[b].first for b in temporaries], np.int64)
    last = np.array([life[b].last for b in temporaries], np.int64)
    begins, ends = np.zeros_like(first), np.zeros_like(first)
    for number, buffer in enumerate(temporaries):
        others = np.flatnonzero((first[:number] <= last[number]) & (last[:number] >= first[number]))
        others = others[np.lexsort((ends[others], begins[others]))]
        place = 0
        for begin, end in zip(begins[others].tolist(), ends[others].tolist(), strict=True):
            if place + buffer.bytes <= begin:
                break
            place = max(place, -(-end // ALIGNMENT) * ALIGNMENT)
        buffer.place = place
        begins[number], ends[number] = place, place + buffer.bytes
    return int(ends.max(initial=0))
