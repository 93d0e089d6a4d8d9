"""Gives buffers their places: leaves out needless copies, then packs what lives at different times."""

from __future__ import annotations

from dataclasses import dataclass

from .plan import Buffer, Step

# What the runtime's pool aligns to, and the longest vector.
ALIGNMENT = 64


@dataclass
class Life:
    """From the first step that touches a buffer to the last one."""

    first: int
    last: int


def order(steps: list[Step]) -> list[Step]:
    """All steps as they run, a loop before its body."""
    return [inner for step in steps for inner in step.all_steps()]


def merge_copies(steps: list[Step]) -> None:
    """Makes one of two buffers where a copy between them would move what nobody else needs."""
    while _merge_in(steps, order(steps)):
        pass


def _merge_in(block: list[Step], whole: list[Step]) -> bool:
    merged = False
    for step in block:
        for body in step.bodies:
            merged |= _merge_in(body, whole)
    for step in list(block):
        if step.name != "copy" or not _is_move(step):
            continue
        out, source = step.writes[0].root, step.reads[0].root
        if out is not source:
            if not _may_merge(block, step, whole):
                continue
            source.same_as = out
        block.remove(step)
        merged = True
    return merged


def _is_move(step: Step) -> bool:
    out, source = step.fields["out"], step.fields["in"]
    same = out.element == source.element and out.shape == source.shape
    return same and out.dense and source.dense and out.offset == source.offset == 0


def _may_merge(block: list[Step], copy: Step, whole: list[Step]) -> bool:
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
    at = block.index(copy)
    before = [s for top in block[:at] for s in top.all_steps()]
    after = [s for top in block[at + 1 :] for s in top.all_steps()]
    inside = {id(step) for step in (*before, copy, *after)}
    if any(_touches(step, source) for step in whole if id(step) not in inside):
        return False
    making = [number for number, step in enumerate(before) if _touches(step, source)]
    if not making or not _writes(before[making[0]], source):
        return False
    if not _makes_of(before[making[0]], source, out):
        return False
    if any(_touches(step, out) for step in before[making[0] + 1 :]):
        return False
    if any(_writes(step, source) for step in after):
        return False
    return not (any(_reads(s, source) for s in after) and any(_writes(s, out) for s in after))


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
    for place, wanted in donated.items():
        for number in [wanted] if wanted is not None else list(outputs):
            if number in outputs and _may_reuse(steps, parameters[place], outputs[number]):
                outputs.pop(number).same_as = parameters[place]
                pairs.append((number, place))
                break
    merge_copies(steps)  # of an argument to the output that now is the same
    return pairs


def _may_reuse(steps: list[Step], parameter: Buffer, output: Buffer) -> bool:
    """Whether nobody wants what the parameter held once the output is being made."""
    if parameter.bytes != output.bytes:
        return False
    making = [number for number, step in enumerate(steps) if _any_touches(step, output)]
    if not making:
        return False
    first = steps[making[0]]
    if any(_any_touches(step, parameter) for step in steps[making[0] + 1 :]):
        return False
    return not _any_touches(first, parameter) or (
        not first.bodies and _makes_of(first, output, parameter)
    )


def _any_touches(step: Step, buffer: Buffer) -> bool:
    return any(_touches(inner, buffer) for inner in step.all_steps())


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
        known = set(found)
        for body in step.bodies:
            position = _live(body, position, found)
        for inner in step.all_steps():
            for buffer in (*inner.reads, *inner.writes):
                root = buffer.root
                if root in known or (step.name == "loop" and _first_is_read(step, root)):
                    found[root].first = min(found[root].first, begin)
                    found[root].last = max(found[root].last, position)
        position += 1
    return position


def _touch(found: dict[Buffer, Life], step: Step, position: int) -> None:
    for buffer in (*step.reads, *step.writes):
        life = found.setdefault(buffer.root, Life(position, position))
        life.last = max(life.last, position)


def _first_is_read(loop: Step, buffer: Buffer) -> bool:
    for step in loop.all_steps():
        if _reads(step, buffer):
            return True
        if _writes(step, buffer):
            return False
    return False


def assign(buffers: list[Buffer], steps: list[Step]) -> int:
    """Offsets for temporaries, the largest first, each in the lowest gap; returns the bytes they take."""
    life = lives(steps)
    temporaries = [b for b in buffers if b.kind == "temporary" and b.root is b and b in life]
    placed: list[tuple[Buffer, Life]] = []
    total = 0
    for buffer in sorted(temporaries, key=lambda b: -b.bytes):
        own = life[buffer]
        others = sorted(
            (b.place, b.place + b.bytes)
            for b, other in placed
            if own.first <= other.last and other.first <= own.last
        )
        place = 0
        for begin, end in others:
            if place + buffer.bytes <= begin:
                break
            place = max(place, -(-end // ALIGNMENT) * ALIGNMENT)
        buffer.place = place
        placed.append((buffer, own))
        total = max(total, place + buffer.bytes)
    return total
