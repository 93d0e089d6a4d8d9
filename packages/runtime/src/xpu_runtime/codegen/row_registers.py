"""Load what several sections of a GPU's row kernel read once, into the registers of a row's items."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from .affine import Affine
from .keep_values import written_arrays
from .program import LoopProgram
from .statements import Load, Recall, Statement, walk

_Key = tuple[int, Affine]
# Of an item: the maximum words that rows take, and statements, which are compiled for each element.
_MAX_WORDS, _MAX_STATEMENTS = 16, 512


@dataclass(frozen=True)
class RowRegisters:
    """``loads`` by the names of arrays of ``slots`` registers, from which sections recall the values.

    An item has the elements at a multiple of the row's items behind its own index.
    """

    slots: int = 0
    loads: dict[str, Load] = field(default_factory=dict)


def keep_rows(program: LoopProgram, columns: int, items: int) -> tuple[LoopProgram, RowRegisters]:
    """Return the program with recalls in place of the loads that several sections have, if there is room."""
    slots = -(-columns // items)
    bodies = [section.per_element for section in program.sections]
    longest = max(sum(1 for _ in walk(body)) for body in bodies)
    if not slots or slots * longest > _MAX_STATEMENTS:
        return program, RowRegisters()
    loads = [_loads(program, body) for body in bodies]
    counts = Counter(key for of_section in loads for key in of_section)
    room, names = _MAX_WORDS // slots, dict[_Key, str]()
    for key in counts:
        words = -(-program.arrays[key[0]].element.math_size // 4)
        if counts[key] > 1 and words <= room:
            room -= words
            names[key] = f"row{len(names)}"
    if not names:
        return program, RowRegisters()

    def recalled(statement: Statement) -> Statement:
        if not isinstance(statement, Load) or statement.mask is not None:
            return statement
        name = names.get(_key(statement))
        element = program.arrays[statement.array].element
        return Recall(statement.name, element.math, name) if name else statement

    sections = [
        replace(section, per_element=[recalled(s) for s in section.per_element])
        for section in program.sections
    ]
    found = {key: load for of_section in loads for key, load in of_section.items()}
    registers = RowRegisters(slots, {name: found[key] for key, name in names.items()})
    return replace(program, sections=sections), registers


def _loads(program: LoopProgram, statements: Sequence[Statement]) -> dict[_Key, Load]:
    """Return what each element of a row loads from memory that does not change."""
    written = written_arrays(program)
    return {
        _key(s): s
        for s in statements
        if isinstance(s, Load)
        and s.mask is None
        and s.array not in written
        and not s.position.variables
        and any(isinstance(c, int) and c >= program.parallel_dims for c in s.position.counters)
    }


def _key(load: Load) -> _Key:
    return load.array, load.position
