"""Gives buffers their places: leaves out needless copies, then packs what lives at different times."""

from __future__ import annotations

from bisect import bisect_right
from dataclasses import dataclass

import numpy as np

from .plan import Buffer, Step
from .uses import Uses, any_between

# What the runtime's pool aligns to, and the longest vector.
ALIGNMENT = 64


@dataclass
class Life:
    """From the first step that touches a buffer to the last one."""

    first: int
    last: int


def merge_copies(steps: list[Step]) -> None:
    """Makes one of two buffers where a copy between them would move what nobody else needs."""
    uses = Uses(steps)
    while _merge_in(steps, 0, len(uses.steps), uses):
        pass


def _merge_in(block: list[Step], begin: int, end: int, uses: Uses) -> bool:
    """Of a block whose steps have the numbers from ``begin`` to ``end``."""
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
    """Whether ``source`` can be made where ``out`` is.

    It must be made and used in the block of the copy only, and between its first write and the copy nobody
    may want what ``out`` held, except to make ``source`` of it. From then on the two must not differ.
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
    """Whether a step that writes ``source`` may write ``out`` instead, although it reads it."""
    if not _touches(step, out):
        return True
    if _writes(step, out):
        return False
    return (step.name == "copy" and _is_move(step)) or any(b.root is out for b in step.in_place)


def reuse_donated(
    buffers: list[Buffer], steps: list[Step], donated: dict[int, int | None]
) -> list[tuple[int, int]]:
    """Makes outputs where arguments lie that are given away; returns pairs of an output and a parameter.

    ``donated``: the parameters, and the output that JAX thought of for each; any of its size serves.
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
    merge_copies(steps)  # of an argument to the output that now is the same
    return pairs


def _may_reuse(steps: list[Step], uses: Uses, parameter: Buffer, output: Buffer) -> bool:
    """Whether nobody wants what the parameter held once the output is being made."""
    if parameter.bytes != output.bytes or output not in uses.touched:
        return False
    made = uses.touched[output][0]
    first = steps[bisect_right(steps, made, key=uses.number.__getitem__) - 1]
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
    """When each temporary is needed; what enters a loop, or goes round in it, lives through all of it."""
    found: dict[Buffer, Life] = {}
    _live(steps, 0, found)
    return found


def _live(block: list[Step], position: int, found: dict[Buffer, Life]) -> int:
    """The lives in a block that begins at a position; returns where it ends."""
    for step in block:
        begin = position
        position += 1
        _touch(found, step, begin)
        if not step.bodies:
            continue
        for body in step.bodies:
            position = _live(body, position, found)
        for root, read_first in _inside(step).items():
            # What was there before, and what goes round.
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
    """What a step and its bodies touch, and whether it is read before anything else."""
    found: dict[Buffer, bool] = {}
    for inner in step.all_steps():
        for buffer in inner.reads:
            found.setdefault(buffer.root, True)
        for buffer in inner.writes:
            found.setdefault(buffer.root, False)
    return found


def assign(buffers: list[Buffer], steps: list[Step]) -> int:
    """Offsets for temporaries, the largest first, each in the lowest gap; returns the bytes they take."""
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
