"""Put a loop program together once all of Inductor's loops and removed buffers are known."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace

import torch
from xpu_runtime.codegen.affine import Affine
from xpu_runtime.codegen.loops import MIN_INNER
from xpu_runtime.codegen.program import Array, Fold, LoopProgram, Section
from xpu_runtime.codegen.sizes import Symbol, hint_of
from xpu_runtime.codegen.statements import (
    Block,
    Do,
    If,
    Let,
    Load,
    Operand,
    Set,
    Statement,
    Store,
    Term,
    Var,
    leaves,
    operands,
    walk,
)
from xpu_runtime.codegen.target import Target

from .loops import Dimensions
from .values import element_of


def assemble(
    sections: Sequence[Section],
    dimensions: Dimensions,
    arrays: Sequence[tuple[str, torch.dtype]],
    written_as: Mapping[str, str],
    removed: set[int],
    symbols: tuple[Symbol, ...],
    headers: tuple[str, ...],
    wide: bool,
    parameters: tuple[str, ...],
    target: Target,
) -> tuple[LoopProgram, list[str]]:
    """Return the program and the names of its arrays.

    ``written_as``: by the names of arrays, those under which the kernel writes the same memory.
    ``removed``: identities of stores to leave out.
    """
    remaining = [_without(section, removed) for section in sections]
    every = [s for section in remaining for s in walk((*section.per_element, *section.per_row))]
    written = {s.array for s in every if isinstance(s, Store)}
    names = [name for name, _ in arrays]
    # Memory that is read and written must be one array: lanes may not repeat what changes their input.
    one = {n: n for n in range(len(arrays))}
    one |= {names.index(a): n for a, b in written_as.items() if (n := names.index(b)) in written}
    used = sorted({one[s.array] for s in every if isinstance(s, Load | Store)})
    numbers = {old: used.index(new) for old, new in one.items() if new in used}
    into = _Translation(dimensions, numbers)
    program = LoopProgram(
        [Array(element_of(arrays[old][1]), None, old in written) for old in used],
        tuple(dimensions.sizes),
        dimensions.parallel,
        [into.section(section) for section in remaining],
        headers=headers,
        parameters=parameters,
        symbols=symbols,
        wide=wide,
        lanes_on_parallel=_lanes_on_parallel(remaining, into, dimensions, target),
    )
    return program, [arrays[old][0] for old in used]


def _without(section: Section, removed: set[int]) -> Section:
    def rest(statements: Iterable[Statement]) -> list[Statement]:
        remaining = []
        for s in statements:
            if isinstance(s, If):
                s = If(s.condition, rest(s.body))
            if id(s) not in removed and not (isinstance(s, If) and not s.body):
                remaining.append(s)
        return remaining

    return replace(section, per_element=rest(section.per_element), per_row=rest(section.per_row))


class _Translation:
    """Rewrites statements from Inductor's loops to the program's dimensions, arrays to those used."""

    def __init__(self, dimensions: Dimensions, numbers: dict[int, int]) -> None:
        self.loops, self.definitions = dimensions.loops, dimensions.definitions
        self.numbers = numbers
        # Each section defines its loops anew, under names of its own.
        self.defined: dict[str, Let] = {}

    def section(self, section: Section) -> Section:
        per_element = self.body(section.per_element, section.folds)
        folds = [
            replace(fold, update=[self.statement(s) for s in fold.update]) for fold in section.folds
        ]
        return Section(per_element, folds, self.body(section.per_row))

    def body(self, statements: Iterable[Statement], folds: Sequence[Fold] = ()) -> list[Statement]:
        """Return translated statements behind definitions of the loops that are no positions."""
        statements = list(statements)
        updates = [s for fold in folds for s in walk(fold.update)]
        named = {name for s in (*walk(statements), *updates) for name in _loops_of(s)}
        for name in sorted(named & self.definitions.keys()):
            known = self.defined.get(name)
            let = self.definitions[name]
            self.defined[name] = let._replace(name=f"{known.name}_again") if known else let
        defined: list[Statement] = [
            self.defined[name] for name in self.definitions if name in named
        ]
        return defined + [self.statement(s) for s in statements]

    def statement(self, s: Statement) -> Statement:
        match s:
            case Load():
                mask = None if s.mask is None else self.operand(s.mask)
                return Load(s.name, self.numbers[s.array], self.position(s.position), mask, s.other)
            case Store():
                place = self.position(s.position)
                return Store(self.numbers[s.array], place, self.operand(s.value), s.combine)
            case Let() | Set() | Do() | Var() if s.value is not None:
                return s._replace(value=self.operand(s.value))
            case If():
                body = [self.statement(inner) for inner in s.body]
                return If(self.operand(s.condition), body)
            case Block():
                return Block([self.statement(inner) for inner in s.body])
        return s

    def operand(self, operand: Operand) -> Operand:
        if isinstance(operand, Affine):
            return self.position(operand)
        if isinstance(operand, Term):
            return Term(operand.template, tuple(map(self.operand, operand.args)))
        return operand

    def position(self, position: Affine) -> Affine:
        total = Affine(position.constant)
        for counter, factor in position.terms:
            if counter in self.loops:
                loop = self.loops[counter]
                total = total + loop * factor
            elif counter in self.defined:
                total = total + Affine(0, ((self.defined[counter].name, factor),))
            else:
                total = total + Affine(0, ((counter, factor),))
        return total


def _loops_of(statement: Statement) -> Iterable[str]:
    if isinstance(statement, Load | Store):
        yield from statement.position.variables
    for operand in operands(statement):
        for leaf in leaves(operand):
            if isinstance(leaf, Affine):
                yield from leaf.variables


def _lanes_on_parallel(
    sections: Sequence[Section], into: _Translation, dimensions: Dimensions, target: Target
) -> bool:
    """Return True if more accesses are contiguous along the last parallel dimension than along the folded.

    On GPUs what is the same for all elements of a fold, such as a channel's mean in parts, does not count.
    """
    last_parallel, last = dimensions.parallel - 1, len(dimensions.sizes) - 1
    count = math.prod(dimensions.sizes[: dimensions.parallel])
    if last == last_parallel or hint_of(count) < MIN_INNER:
        return False
    parallel = folded = 0
    for section in sections:
        for s in walk(section.per_element):
            if isinstance(s, Load | Store):
                position = into.position(s.position)
                if target.gpu and not any(
                    map(position.factor, range(dimensions.parallel, last + 1))
                ):
                    continue
                folded += position.factor(last) == 1
                parallel += position.factor(last_parallel) == 1
    return parallel > folded
