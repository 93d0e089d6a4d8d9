"""Replace loads of bytes by loads of words where the bytes of neighboring lanes are not contiguous.

CPUs have an instruction that gathers words, and none that gathers bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from .access import load_template
from .affine import Affine
from .loops import MIN_INNER, Loops
from .program import Array, LoopProgram
from .sizes import hint_of
from .statements import (
    Block,
    Let,
    Load,
    Operand,
    Statement,
    Store,
    Term,
    bodies,
    leaves,
    operands,
    rewrite,
)

# The bytes of a word; the maximum number of statements after repeating them per channel.
_MAX_CHANNELS, _MAX_STATEMENTS = 4, 100


def is_regular(statements: Sequence[Statement]) -> bool:
    """Return True if all accesses happen for every element, and positions are only used to access arrays."""
    for statement in statements:
        if bodies(statement) or (type(statement) is Load and statement.position.variables):
            return False
        for operand in operands(statement):
            if any(type(leaf) is Affine for leaf in leaves(operand)):
                return False
    return True


def load_words(
    program: LoopProgram, statements: list[Statement], loops: Loops, index: str
) -> tuple[Loops, list[Statement]]:
    """Return loops and statements in which loads of words replace loads of bytes.

    The channels of a pixel are in one word, so they are computed together, without a loop over them. That
    needs sizes; programs with symbols load a word for each byte.
    """
    arrays = program.arrays
    if not any(_is_byte(array) for array in arrays):
        return loops, statements
    dim = None if program.symbols else _channels(arrays, statements, loops)
    if dim is None:
        lane = len(loops.sizes) - 1
        flat = hint_of(loops.sizes[-1]) < MIN_INNER and lane > 0

        def load(statement: Statement) -> Statement:
            if type(statement) is not Load or statement.mask is not None:
                return statement
            place = loops.positions[statement.position]
            is_scattered = flat or place.factor(lane) not in (0, 1) or bool(place.variables)
            return _byte_load(arrays, statement) if is_scattered else statement

        return loops, rewrite(statements, load)
    return _by_channel(arrays, statements, loops, index, dim)


def _by_channel(
    arrays: Sequence[Array], statements: list[Statement], loops: Loops, index: str, dim: int
) -> tuple[Loops, list[Statement]]:
    """Repeat the statements for each channel, the coordinate in dimension ``dim``."""
    size, lane = hint_of(loops.sizes[dim]), len(loops.sizes) - 1
    words: dict[tuple[int, Affine], Let] = {}
    body: list[Statement] = []
    positions: dict[Affine, Affine] = {}

    def fixed(place: Affine, channel: int) -> Affine:
        found = _fix(loops.positions[place], dim, channel)
        positions[found] = found
        return found

    def at_channel(statement: Statement, channel: int) -> Statement:
        if type(statement) is Store:
            return statement._replace(position=fixed(statement.position, channel))
        if type(statement) is not Load:
            return statement
        array, place = arrays[statement.array], loops.positions[statement.position]
        if _is_byte(array) and (array.bytes or 0) >= 4 and place.is_unit_stride(dim):
            key = statement.array, fixed(statement.position, 0)
            if key not in words:
                value = Term(
                    f"word_at({{0}}, ({index})({{1}}), ({index}){array.bytes})",
                    (f"x{key[0]}", key[1]),
                )
                words[key] = Let(f"w{len(words)}", "const u32", value)
            stored = array.element.stored
            part = Term(f"({stored})({{0}} >> {8 * channel})", (words[key].name,))
            return _converted(array, statement.name, part)
        moved = statement._replace(position=fixed(statement.position, channel))
        is_scattered = place.factor(lane) not in (0, 1)
        return _byte_load(arrays, moved) if is_scattered else moved

    for channel in range(size):
        body.append(Block([at_channel(statement, channel) for statement in statements]))
    sizes = loops.sizes[:dim] + loops.sizes[dim + 1 :]
    return Loops(sizes, positions), [*words.values(), *body]


def _channels(arrays: Sequence[Array], statements: list[Statement], loops: Loops) -> int | None:
    """Return a dimension of at most a word along which bytes are contiguous, although not over lanes."""
    # Irregular positions are read under a condition, or do not differ by a constant.
    if len(statements) * _MAX_CHANNELS > _MAX_STATEMENTS or not is_regular(statements):
        return None
    lane = len(loops.sizes) - 1
    for statement in statements:
        if type(statement) is not Load or not _is_byte(arrays[statement.array]):
            continue
        place = loops.positions[statement.position]
        if (arrays[statement.array].bytes or 0) < 4 or place.factor(lane) in (0, 1):
            continue
        for dim, size in enumerate(loops.sizes[:-1]):
            if hint_of(size) <= _MAX_CHANNELS and place.is_unit_stride(dim):
                return dim
    return None


def _is_byte(array: Array) -> bool:
    return array.element.stored in ("u8", "i8")


def _fix(place: Affine, dim: int, at: int) -> Affine:
    """Set a dimension's coordinate in a position, and renumber the later dimensions."""
    terms = (
        (c - 1 if isinstance(c, int) and c > dim else c, f) for c, f in place.terms if c != dim
    )
    return Affine(place.constant + hint_of(place.factor(dim)) * at, tuple(terms))


def _byte_load(arrays: Sequence[Array], load: Load) -> Statement:
    """Load a byte from the word that contains it."""
    array = arrays[load.array]
    if not _is_byte(array):
        return load
    return _converted(
        array, load.name, Term("byte_at({0}, {1})", (f"x{load.array}", load.position))
    )


def _converted(array: Array, name: str, stored: Operand) -> Let:
    return Let(name, array.element.math, Term(load_template(array.element), (stored,)))
