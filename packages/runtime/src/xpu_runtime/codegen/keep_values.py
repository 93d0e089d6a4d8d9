"""Keep slow values of a row's elements in local memory, instead of computing them in several sections."""

from __future__ import annotations

from collections.abc import Hashable, Iterator, Sequence
from dataclasses import replace
from functools import cache
from typing import Any

from .affine import Affine
from .functions import functions
from .program import Cache, LoopProgram, Section
from .statements import (
    Keep,
    Let,
    Load,
    Operand,
    Recall,
    Statement,
    Store,
    Term,
    names_in,
    names_of,
    walk,
)
from .target import Target

# Headers of functions that take longer than a load and a store of local memory.
_SLOW_HEADERS = ("exp", "trig", "hyperbolic", "erf", "gamma", "bessel", "modified_bessel", "zeta")

_SIZES = {"double": 8, "i64": 8, "u64": 8, "Complex<float>": 16, "Complex<double>": 16}


def keep_slow_values(program: LoopProgram, target: Target) -> LoopProgram:
    """Return the program with caches for slow values that several sections compute, if there is room."""
    columns = 1
    for size in program.shape[program.parallel_dims :]:
        if not isinstance(size, int):
            return program
        columns *= size
    if program.lanes_on_parallel or program.caches or len(program.sections) < 2:
        return program
    keeper = _Keeper(target.cache_bytes(columns), written_arrays(program))
    sections = [keeper.section(number, section) for number, section in enumerate(program.sections)]
    if not keeper.caches:
        return program
    sections = [
        replace(section, per_element=[*section.per_element, *keeper.keeps.get(number, ())])
        for number, section in enumerate(sections)
    ]
    return replace(program, sections=sections, caches=tuple(keeper.caches.values()))


class _Keeper:
    """Chooses values, section by section, as long as there is room for more bytes of each element."""

    def __init__(self, room: int, written: set[int]) -> None:
        self.room, self.written = room, written
        # The first section that computes a value, by what the value is made of.
        self.known: dict[Hashable, tuple[int, Let]] = {}
        self.caches: dict[Hashable, Cache] = {}
        self.keeps: dict[int, list[Keep]] = {}

    def section(self, number: int, section: Section) -> Section:
        """Return the section with cached values in place of those that it would compute again."""
        keyed = list(_keyed(section.per_element, self.written))
        again = {
            s.name
            for s, key, is_slow in keyed
            if isinstance(s, Let) and is_slow and self._is_known(key, number)
        }
        rest = [s for s, _, _ in keyed if not (isinstance(s, Let) and s.name in again)]
        updates = [s for fold in section.folds for s in fold.update]
        # What only leads to another known value is not needed.
        needed = {name for s in walk((*rest, *updates)) for name in names_in(s)}
        statements: list[Statement] = []
        for statement, key, is_slow in keyed:
            if isinstance(statement, Let) and is_slow:
                self.known.setdefault(key, (number, statement))
                if statement.name in again and statement.name in needed and self._keep(key):
                    cache = self.caches[key]
                    statements.append(Recall(statement.name, statement.type, cache.name))
                    continue
            statements.append(statement)
        return replace(section, per_element=statements)

    def _is_known(self, key: Hashable, number: int) -> bool:
        return key in self.known and self.known[key][0] < number

    def _keep(self, key: Hashable) -> bool:
        """Keep a value where it is first computed; return False if there is no room for it."""
        if key not in self.caches:
            number, let = self.known[key]
            size = _SIZES.get(let.type, 4)
            if size > self.room:
                return False
            self.room -= size
            cache = self.caches[key] = Cache(f"cached_{let.name}", let.type)
            self.keeps.setdefault(number, []).append(Keep(cache.name, let.name))
        return True


def written_arrays(program: LoopProgram) -> set[int]:
    """Return the arrays that the program stores to."""
    return {
        s.array
        for section in program.sections
        for s in walk((*section.per_element, *section.per_row))
        if isinstance(s, Store)
    }


def keys_of(statements: Sequence[Statement], written: set[int]) -> dict[str, Hashable]:
    """Return what each value is made of; equal keys are of equal values, also in several sections."""
    return {s.name: key for s, key, _ in _keyed(statements, written) if isinstance(s, Let | Load)}


def _keyed(
    statements: Sequence[Statement], written: set[int]
) -> Iterator[tuple[Statement, Hashable, bool]]:
    """Yield each statement with what its value is made of, and whether that is slow to compute."""
    keys: dict[str, Hashable] = {}
    slow: set[str] = set()
    for statement in statements:
        key: Hashable = object()  # equals nothing else
        is_slow = False
        if isinstance(statement, Let):
            names = set(names_of(statement.value))
            key = statement.type, _key(statement.value, keys)
            is_slow = _calls_slow(statement.value) or bool(names & slow)
        elif isinstance(statement, Load) and statement.array not in written:
            mask = None if statement.mask is None else _key(statement.mask, keys)
            key = statement.array, statement.position, mask, statement.other
        if isinstance(statement, Let | Load):
            keys[statement.name] = key
            if is_slow:
                slow.add(statement.name)
        yield statement, key, is_slow


def _key(operand: Operand, keys: dict[str, Hashable]) -> Hashable:
    if isinstance(operand, Term):
        return operand.template, tuple(_key(argument, keys) for argument in operand.args)
    if isinstance(operand, Affine):
        return operand.constant, tuple((keys.get(c, c), f) for c, f in operand.terms)  # type: ignore[arg-type]
    return keys.get(operand, operand)


def _calls_slow(operand: Any) -> bool:
    if not isinstance(operand, Term):
        return False
    return _slow(operand.template) or any(map(_calls_slow, operand.args))


@cache
def _slow(template: str) -> bool:
    return any(f"{name}(" in template for name in _slow_names())


@cache
def _slow_names() -> frozenset[str]:
    return frozenset(f.name for f in functions() if f.header in _SLOW_HEADERS)
