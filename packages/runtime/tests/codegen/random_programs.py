"""Random loop programs, and their meaning in numpy: an interpreter that knows nothing of the writers.

All arithmetic is of integers that wrap, so results are exact.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from loop_case import run

from xpu_runtime.codegen.affine import Affine, row_major
from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.program import Array, Fold, LoopProgram, Section
from xpu_runtime.codegen.statements import (
    Block,
    For,
    If,
    Let,
    Load,
    Operand,
    Set,
    Statement,
    Store,
    Term,
    Var,
)

# Templates of the random programs, and what each computes of arrays.
OPERATIONS: dict[str, Callable[..., np.ndarray]] = {
    "(i32)((u32){0} + (u32){1})": lambda a, b: a + b,
    "(i32)((u32){0} - (u32){1})": lambda a, b: a - b,
    "(i32)((u32){0} * (u32){1})": lambda a, b: a * b,
    "min_of((i32){0}, (i32){1})": np.minimum,
    "max_of((i32){0}, (i32){1})": np.maximum,
    "(i32)({0} ^ {1})": lambda a, b: a ^ b,
    "(i32)({0})": lambda a: a,
    "({0} & 3) != 0": lambda a: (a & 3) != 0,
    "{0} & 7": lambda a: a & 7,
}
_BINARY = [template for template in OPERATIONS if "{1}" in template]
_FOLDS = {
    "(i32)((u32){0} + (u32){1})": ("0", np.add),
    "max_of((i32){0}, (i32){1})": ("(i32)0x80000000", np.maximum),
    "(i32)({0} ^ {1})": ("0", np.bitwise_xor),
}


@dataclass
class Random:
    """A program under construction with its arrays."""

    rng: np.random.Generator
    shape: tuple[int, ...]
    arrays: list[np.ndarray] = field(default_factory=list)
    written: list[bool] = field(default_factory=list)
    count: int = 0

    def pick(self, options: Sequence):
        return options[int(self.rng.integers(len(options)))]

    def name(self) -> str:
        self.count += 1
        return f"v{self.count}"

    def array(self, size: int, written: bool = False) -> int:
        dtype = np.int32 if written else self.pick([np.int32, np.int32, np.uint8])
        high = 250 if dtype == np.uint8 else 1000
        data = np.zeros(size, dtype) if written else self.rng.integers(0, high, size, dtype)
        self.arrays.append(data)
        self.written.append(written)
        return len(self.arrays) - 1

    def position(self, rank: int) -> tuple[Affine, int]:
        """A position over the first dimensions, in any order of strides, and the size that it needs."""
        order = self.rng.permutation(rank)
        strides, step = [0] * rank, 1
        if self.rng.random() < 0.5:
            order = np.arange(rank)[::-1]
        for dim in order:
            if self.rng.random() < 0.8:
                strides[dim] = step
                step *= self.shape[dim]
                step *= self.pick([1, 1, 1, 2])
        offset = int(self.pick([0, 0, 3]))
        terms = [(dim, stride) for dim, stride in enumerate(strides) if stride]
        for number, (dim, stride) in enumerate(terms):
            if self.rng.random() < 0.1:  # backwards
                terms[number] = dim, -stride
                offset += stride * (self.shape[dim] - 1)
        return Affine(offset, tuple(terms)), offset + step + 1

    def statements(self, rank: int, names: list[str], depth: int = 0) -> list[Statement]:
        """Some statements, which append the names that may be used after them."""
        body: list[Statement] = []
        for _ in range(int(self.rng.integers(2, 6))):
            kind = self.pick(["load", "load", "let", "let", "count", "if", "for", "gather", "mask"])
            if kind == "load" or not names:
                place, size = self.position(rank)
                body.append(Load(self.name(), self.array(size), place))
            elif kind == "let":
                term = Term(self.pick(_BINARY), (self.pick(names), self.pick([*names, "5"])))
                body.append(Let(self.name(), "i32", term))
            elif kind == "count":
                place, _ = self.position(rank)
                body.append(Let(self.name(), "i32", Term("(i32)({0})", (place,))))
            elif kind == "gather":
                index = self.name()
                body.append(Let(index, "i32", Term("{0} & 7", (self.pick(names),))))
                body.append(Load(self.name(), self.array(8), Affine.of(index)))
            elif kind == "mask":
                mask = self.name()
                body.append(Let(mask, "bool", Term("({0} & 3) != 0", (self.pick(names),))))
                place, size = self.position(rank)
                body.append(Load(self.name(), self.array(size), place, mask, self.pick(names)))
            elif depth < 2:
                body += self.nested(rank, names, depth, kind)
            if body and isinstance(body[-1], Let | Load | Var):
                names.append(body[-1].name)
        return body

    def nested(self, rank: int, names: list[str], depth: int, kind: str) -> list[Statement]:
        variable, inner = self.name(), [*names]
        first = Var(variable, "i32", self.pick(names))
        if kind == "if":
            body = self.statements(rank, inner, depth + 1)
            body.append(Set(variable, self.pick(inner)))
            condition = Term("({0} & 3) != 0", (self.pick(names),))
            return [
                first,
                If(condition, body, [Set(variable, self.pick(names))]),
                _use(variable, names),
            ]
        counter = f"k{variable}"
        place, size = self.position(rank)
        total = Term(_BINARY[0], (variable, f"e{variable}"))
        body = [
            Load(f"e{variable}", self.array(size + 9), place + Affine.of(counter) * 2),
            Block([Set(variable, total)]),
        ]
        return [first, For(counter, "i32", "0", "4", body), _use(variable, names)]

    def program(self, parallel_dims: int, sections: list[Section]) -> LoopProgram:
        names = {np.dtype(np.int32): "i32", np.dtype(np.uint8): "u8"}
        arrays = [
            Array(ELEMENTS[names[a.dtype]], a.nbytes, w)
            for a, w in zip(self.arrays, self.written, strict=True)
        ]
        return LoopProgram(arrays, self.shape, parallel_dims, sections, (), ("integer",))


def _use(variable: str, names: list[str]) -> Let:
    """Return a definition of what a variable holds now."""
    return Let(f"u{variable}", "i32", Term("(i32)({0})", (variable,)))


# A program and its arguments.
Made = tuple[LoopProgram, list[np.ndarray]]
SIZES = [1, 2, 3, 4, 7, 16, 17, 33, 64, 100, 260]


def pointwise(rng: np.random.Generator) -> Made:
    """A random program without folds."""
    rank = int(rng.integers(1, 4))
    made = Random(rng, tuple(int(rng.choice(SIZES[: 11 - 2 * rank])) for _ in range(rank)))
    names: list[str] = []
    body = made.statements(rank, names)
    out = made.array(math.prod(made.shape), written=True)
    strides = row_major(made.shape)
    if rng.random() < 0.3:  # transposed
        strides = tuple(row_major(made.shape[::-1])[::-1])
    body.append(Store(out, Affine(0, tuple(enumerate(strides))), names[-1]))
    return made.program(rank, [Section(body)]), made.arrays


def rows(rng: np.random.Generator) -> Made:
    """A random program of rows."""
    return _folding(rng, int(rng.integers(2, 4)), 1)


def columns(rng: np.random.Generator) -> Made:
    """A random program whose lanes lie along the last parallel dimension."""
    rank = int(rng.integers(2, 4))
    program, arrays = _folding(rng, rank, int(rng.integers(1, rank)))
    return replace(program, lanes_on_parallel=True), arrays


def _folding(rng: np.random.Generator, rank: int, leading: int) -> Made:
    """A random program with a fold, and elements that use its result."""
    made = Random(rng, tuple(int(rng.choice(SIZES)) for _ in range(rank)))
    names: list[str] = []
    first = made.statements(rank, names)
    template = made.pick(list(_FOLDS))
    combine = [Set("s0", Term(template, ("s0", "r0")))]
    update = [Set("s0", Term(template, ("s0", names[-1])))]
    fold = Fold(("folded",), ("i32",), (_FOLDS[template][0],), update, combine, ("s0",))
    parallel = made.shape[:leading]
    result = made.array(math.prod(parallel), written=True)
    place = Affine(0, tuple(enumerate(row_major(parallel))))
    sections = [Section(first, [fold], [Store(result, place, "folded")])]
    if rng.random() < 0.7:
        again = ["folded"]
        twice = Let("twice", "i32", Term(_BINARY[0], ("folded", "folded")))
        body = [twice, *made.statements(rank, again)]
        out = made.array(math.prod(made.shape), written=True)
        value = Term(_BINARY[1], (again[-1], "twice"))
        place = Affine(0, tuple(enumerate(row_major(made.shape))))
        sections.append(Section([*body, Store(out, place, value)]))
    return made.program(leading, sections), made.arrays


# -- what a program means


class Interpreter:
    """Runs statements for all elements at once; ``active`` is where they run."""

    def __init__(self, shape: tuple[int, ...], arrays: list[np.ndarray]) -> None:
        self.shape, self.arrays = shape, arrays
        self.names: dict[str, np.ndarray] = {}
        self.grid = np.indices(shape)

    def operand(self, operand: Operand) -> np.ndarray:
        if isinstance(operand, Affine):
            return self.position(operand).astype(np.int32)
        if isinstance(operand, Term):
            with np.errstate(over="ignore"):
                return OPERATIONS[operand.template](*map(self.operand, operand.args))
        return self.names[operand] if operand in self.names else np.int32(int(operand))

    def position(self, position: Affine) -> np.ndarray:
        total = np.full(self.shape, position.constant, np.int64)
        for counter, factor in position.terms:
            at = self.names[counter] if isinstance(counter, str) else self.grid[counter]
            total += np.asarray(at, np.int64) * factor
        return total

    def run(self, statements: Sequence[Statement], active: np.ndarray) -> None:
        for s in statements:
            match s:
                case Let() | Var():
                    self.names[s.name] = np.broadcast_to(self.operand(s.value), self.shape)
                case Set():
                    value = np.broadcast_to(self.operand(s.value), self.shape)
                    self.names[s.name] = np.where(active, value, self.names[s.name])
                case Load():
                    where = active if s.mask is None else active & self.operand(s.mask)
                    places = np.where(where, self.position(s.position), 0)
                    array = self.arrays[s.array]
                    other = np.asarray(0 if s.mask is None else self.operand(s.other))
                    found = np.where(where, array[places], other.astype(array.dtype))
                    self.names[s.name] = found.astype(np.int32)
                case Store():
                    value = np.broadcast_to(self.operand(s.value), self.shape)
                    self.arrays[s.array][self.position(s.position)[active]] = value[active]
                case If():
                    chosen = np.broadcast_to(self.operand(s.condition), self.shape)
                    self.run(s.body, active & chosen)
                    self.run(s.orelse, active & ~chosen)
                case For():
                    for number in range(int(s.begin), int(s.end)):
                        self.names[s.counter] = np.full(self.shape, number, np.int32)
                        self.run(s.body, active)
                case Block():
                    self.run(s.body, active)


def interpret(program: LoopProgram, arrays: list[np.ndarray]) -> list[np.ndarray]:
    """Return what the arrays hold after the program."""
    found = [array.copy() for array in arrays]
    inside = Interpreter(program.shape, found)
    everywhere = np.ones(program.shape, bool)
    for section in program.sections:
        inside.run(section.per_element, everywhere)
        for fold in section.folds:
            (update,) = fold.update
            template, value = update.value.template, update.value.args[1]
            along = np.broadcast_to(inside.operand(value), program.shape)
            axes = tuple(range(program.parallel_dims, len(program.shape)))
            with np.errstate(over="ignore"):
                total = _FOLDS[template][1].reduce(along.astype(np.int32), axis=axes, keepdims=True)
            inside.names[fold.results[0]] = np.broadcast_to(total.astype(np.int32), program.shape)
        inside.run(section.per_row, everywhere)
    return found


KINDS: dict[str, Callable[[np.random.Generator], Made]] = {
    "pointwise": pointwise,
    "rows": rows,
    "columns": columns,
}


def difference(
    xr, program: LoopProgram, arrays: list[np.ndarray], margin: int = 0, **more: Any
) -> str:
    """Return where a program's results differ from their meaning, or "". For ``margin`` see run().

    ``more`` may have a program for ``run`` of the same meaning, and other arguments of it.
    """
    found = run(xr, more.pop("written", program), arrays, margin=margin, **more)
    return first_difference(found, interpret(program, arrays))


def first_difference(results: list[np.ndarray], meanings: list[np.ndarray]) -> str:
    """Return where the first array differs from its meaning, or ""."""
    for number, (got, expected) in enumerate(zip(results, meanings, strict=True)):
        if not np.array_equal(got, expected):
            at = int(np.flatnonzero(got != expected)[0])
            return f"array {number} at {at}: {got.flat[at]}, expected {expected.flat[at]}"
    return ""
