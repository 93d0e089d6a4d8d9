"""Loads of bytes that are not contiguous over lanes, as loads of words: CPUs cannot gather bytes."""

from __future__ import annotations

import re

from .affine import Affine
from .emit import Emitter
from .space import SHORT, Loops
from .streaming_stores import Store

_LOAD = re.compile(r"\bx(\d+)\[@(\d+)@\](?! = )")  # matches no store
# The bytes of a word; the maximum number of statements after repeating them per channel.
_MAX_CHANNELS, _MAX_LINES = 4, 100


def load_words(
    emitter: Emitter, stores: list[Store], loops: Loops, index: str
) -> tuple[Loops, list[str], list[Store]]:
    """Return loops and statements in which loads of words replace loads of bytes, and the remaining stores.

    The channels of a pixel are in one word, so they are computed together, without a loop over them.
    """
    dim = _channels(emitter, loops)
    if dim is None:
        return loops, [_load_bytes(emitter, loops, line) for line in emitter.lines], stores
    size = loops.sizes[dim]
    words: dict[str, None] = {}
    ends = [store.statement for store in stores]
    body = []
    for channel in range(size):

        def shared(found: re.Match[str], channel: int = channel) -> str:
            number, position = int(found[1]), int(found[2])
            if not _is_byte(emitter, number) or not _is_unit_stride(loops.positions[position], dim):
                return found[0]
            buffer, element = emitter.buffers[number]
            place = f"({index})(@{position * size}@), ({index}){buffer.bytes}"
            words[f"const u32 w{position} = word_at(x{number}, {place});"] = None
            return f"({element.stored})(w{position} >> {8 * channel})"

        def own(found: re.Match[str], channel: int = channel) -> str:
            return f"@{int(found[1]) * size + channel}@"

        lines = [_load_bytes(emitter, loops, _LOAD.sub(shared, line)) for line in emitter.lines]
        body += ["{", *(re.sub(r"@(\d+)@", own, line) for line in lines + ends), "}"]
    positions = [_fix(p, dim, channel) for p in loops.positions for channel in range(size)]
    return Loops(loops.sizes[:dim] + loops.sizes[dim + 1 :], positions), [*words, *body], []


def _channels(emitter: Emitter, loops: Loops) -> int | None:
    """Return a dimension of at most a word along which bytes are contiguous, although not over lanes."""
    lane = len(loops.sizes) - 1
    # Irregular positions are read under a condition, or do not differ by a constant.
    if emitter.irregular or emitter.stores or len(emitter.lines) * _MAX_CHANNELS > _MAX_LINES:
        return None
    for line in emitter.lines:
        for number, position in _LOAD.findall(line):
            place = loops.positions[int(position)]
            if not _is_byte(emitter, int(number)) or place.factor(lane) in (0, 1):
                continue
            for dim, size in enumerate(loops.sizes[:-1]):
                if size <= _MAX_CHANNELS and _is_unit_stride(place, dim):
                    return dim
    return None


def _is_byte(emitter: Emitter, number: int) -> bool:
    buffer, element = emitter.buffers[number]
    return element.stored in ("u8", "i8") and buffer.bytes >= 4


def _is_unit_stride(place: Affine, dim: int) -> bool:
    return place.factor(dim) == 1 and not _is_computed(place)


def _is_computed(place: Affine) -> bool:
    """Return True if the position depends on a computed value."""
    return any(isinstance(counter, str) for counter in place.counters)


def _fix(place: Affine, dim: int, at: int) -> Affine:
    """Set a dimension's coordinate in a position, and renumber the later dimensions."""
    terms = (
        (c - 1 if isinstance(c, int) and c > dim else c, f) for c, f in place.terms if c != dim
    )
    return Affine(place.constant + place.factor(dim) * at, tuple(terms))


def _load_bytes(emitter: Emitter, loops: Loops, line: str) -> str:
    """Load each byte from the word that contains it."""
    lane = len(loops.sizes) - 1
    flat = loops.sizes[-1] < SHORT and lane > 0

    def load(found: re.Match[str]) -> str:
        number, place = int(found[1]), loops.positions[int(found[2])]
        element = emitter.buffers[number][1]
        is_scattered = flat or place.factor(lane) not in (0, 1) or _is_computed(place)
        if element.stored not in ("u8", "i8") or not is_scattered:
            return found[0]
        return f"byte_at(x{number}, @{found[2]}@)"

    return _LOAD.sub(load, line)
