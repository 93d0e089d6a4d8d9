"""Bytes that the lanes of a CPU device do not find side by side: it has gathers of words, not of bytes."""

from __future__ import annotations

import re

from .affine import Affine
from .emit import Emitter
from .space import SHORT, Loops
from .streaming_stores import Store

_LOAD = re.compile(r"\bx(\d+)\[@(\d+)@\](?! = )")  # and no store
# As many as a word's bytes; statements beyond which they are not repeated for each of them.
_MOST_CHANNELS, _MAX_LINES = 4, 100


def by_words(
    emitter: Emitter, stores: list[Store], loops: Loops, index: str
) -> tuple[Loops, list[str], list[Store]]:
    """The statements of an element with its loads of bytes made loads of words, and the stores left to make.

    The channels of an image's point lie in one word: they are computed together, with no loop over them.
    """
    dim = _channels(emitter, loops)
    if dim is None:
        return loops, [_alone(emitter, loops, line) for line in emitter.lines], stores
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

        lines = [_alone(emitter, loops, _LOAD.sub(shared, line)) for line in emitter.lines]
        body += ["{", *(re.sub(r"@(\d+)@", own, line) for line in lines + ends), "}"]
    positions = [_fixed(p, dim, channel) for p in loops.positions for channel in range(size)]
    return Loops(loops.sizes[:dim] + loops.sizes[dim + 1 :], positions), [*words, *body], []


def _channels(emitter: Emitter, loops: Loops) -> int | None:
    """The dimension, no longer than a word, along which bytes lie side by side that lanes find apart."""
    lane = len(loops.sizes) - 1
    # An irregular position is read under a condition only, or differs in more than its place.
    if emitter.irregular or emitter.stores or len(emitter.lines) * _MOST_CHANNELS > _MAX_LINES:
        return None
    for line in emitter.lines:
        for number, position in _LOAD.findall(line):
            place = loops.positions[int(position)]
            if not _is_byte(emitter, int(number)) or place.factor(lane) in (0, 1):
                continue
            for dim, size in enumerate(loops.sizes[:-1]):
                if size <= _MOST_CHANNELS and _is_unit_stride(place, dim):
                    return dim
    return None


def _is_byte(emitter: Emitter, number: int) -> bool:
    buffer, element = emitter.buffers[number]
    return element.stored in ("u8", "i8") and buffer.bytes >= 4


def _is_unit_stride(place: Affine, dim: int) -> bool:
    return place.factor(dim) == 1 and not _is_found(place)


def _is_found(place: Affine) -> bool:
    """Whether it depends on what is computed."""
    return any(isinstance(counter, str) for counter in place.counters)


def _fixed(place: Affine, dim: int, at: int) -> Affine:
    """A position where a dimension's coordinate is known; those after it are numbered anew."""
    terms = (
        (c - 1 if isinstance(c, int) and c > dim else c, f) for c, f in place.terms if c != dim
    )
    return Affine(place.constant + place.factor(dim) * at, tuple(terms))


def _alone(emitter: Emitter, loops: Loops, line: str) -> str:
    """Each byte out of the word that holds it."""
    lane = len(loops.sizes) - 1
    flat = loops.sizes[-1] < SHORT and lane > 0

    def load(found: re.Match[str]) -> str:
        number, place = int(found[1]), loops.positions[int(found[2])]
        element = emitter.buffers[number][1]
        apart = flat or place.factor(lane) not in (0, 1) or _is_found(place)
        if element.stored not in ("u8", "i8") or not apart:
            return found[0]
        return f"byte_at(x{number}, @{found[2]}@)"

    return _LOAD.sub(load, line)
