"""Loop programs with symbols: written by hand, and made of programs without symbols."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace

import numpy as np
from loop_case import HEADERS, fold, total

from xpu_runtime.codegen.affine import Affine, counters, dot, row_major
from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.program import Array, Fold, LoopProgram, Section
from xpu_runtime.codegen.sizes import Size, Symbol
from xpu_runtime.codegen.statements import (
    For,
    If,
    Let,
    Load,
    Set,
    Statement,
    Store,
    Term,
    bodies,
    rewrite,
)

C0, C1, C2 = (Affine.of(dim) for dim in range(3))
STRIDE, OFFSET = Symbol("m0", 7), Symbol("at0", 0)
F32, I64 = ELEMENTS["f32"], ELEMENTS["i64"]
ADD = "{0} + {1}"


@dataclass
class Launch:
    """Values of a program's symbols, arguments, and what the writable ones hold afterwards."""

    values: dict[str, int]
    arguments: list[np.ndarray]
    expected: list[np.ndarray]


@dataclass
class Symbolic:
    """A program with symbols, and its launch for numbers of rows and columns."""

    program: LoopProgram
    launch: Callable[[np.random.Generator, int, int], Launch]


SYMBOLIC: dict[str, Callable[[Symbol, Symbol], Symbolic]] = {}


def symbolic(
    function: Callable[[Symbol, Symbol], Symbolic],
) -> Callable[[Symbol, Symbol], Symbolic]:
    SYMBOLIC[function.__name__] = function
    return function


def make(
    inputs: int,
    outputs: Sequence,
    shape: tuple[Size, ...],
    parallel_dims: int,
    sections: Sequence[Section],
    symbols: Sequence[Symbol],
) -> LoopProgram:
    arrays = [Array(F32, None)] * inputs + [Array(element, None, True) for element in outputs]
    return LoopProgram(
        arrays, shape, parallel_dims, sections, headers=HEADERS, symbols=symbols, wide=False
    )


def whole(*shape: Size) -> Affine:
    return dot(counters(shape), row_major(shape))


def small(rng: np.random.Generator, *shape: int) -> np.ndarray:
    """Small whole numbers, whose sums are exact."""
    return rng.integers(-50, 50, shape).astype(np.float32)


@symbolic
def line(n0: Symbol, n1: Symbol) -> Symbolic:
    """Dimensions that join, at an offset."""
    place = whole(n0, n1)
    body = [Load("a", 0, place + Affine.of("at0")), Store(1, place, Term("{0} * 2.0f", ("a",)))]

    def launch(rng, rows, columns):
        x, at = small(rng, rows * columns + 9), 5
        values = {"n0": rows, "n1": columns, "at0": at}
        return Launch(values, [x], [x[at : at + rows * columns] * 2])

    sections = [Section(body)]
    return Symbolic(make(1, [F32], (n0, n1), 2, sections, [n0, n1, OFFSET]), launch)


@symbolic
def wide_argument(n0: Symbol, n1: Symbol) -> Symbolic:
    """A number of 64 bits, where positions have 32."""
    place, number = whole(n0, n1), Symbol("number", 1)
    body = [
        Load("a", 0, place),
        Store(1, place, Term("(i64){0} + {1}", ("a", number.argument))),
    ]

    def launch(rng, rows, columns):
        x, added = small(rng, rows, columns), 2**45 + 3
        values = {"n0": rows, "n1": columns, "number": added}
        return Launch(values, [x], [x.astype(np.int64) + added])

    sections = [Section(body)]
    return Symbolic(make(1, [I64], (n0, n1), 2, sections, [n0, n1, number]), launch)


@symbolic
def broadcast(n0: Symbol, n1: Symbol) -> Symbolic:
    """Rows apart, a value a row and a value a column."""
    body = [
        Load("a", 0, dot((C0, C1), (STRIDE, 1))),
        Load("b", 1, C0),
        Load("c0", 2, C1),
        Let("t", "float", Term("{0} * {1}", ("b", "c0"))),
        Store(3, whole(n0, n1), Term(ADD, ("a", "t"))),
    ]

    def launch(rng, rows, columns):
        x, b, c = small(rng, rows, columns + 3), small(rng, rows), small(rng, columns)
        values = {"m0": columns + 3, "n0": rows, "n1": columns}
        return Launch(values, [x, b, c], [x[:, :columns] + np.outer(b, c)])

    sections = [Section(body)]
    return Symbolic(make(3, [F32], (n0, n1), 2, sections, [STRIDE, n0, n1]), launch)


@symbolic
def transposed(n0: Symbol, n1: Symbol) -> Symbolic:
    """Three dimensions, which do not join."""
    body = [
        Load("a", 0, dot((C2, C1, C0), row_major((n1, 3, n0)))),
        Store(1, whole(n0, 3, n1), "a"),
    ]

    def launch(rng, rows, columns):
        x = small(rng, columns, 3, rows)
        return Launch({"n0": rows, "n1": columns}, [x], [x.transpose(2, 1, 0)])

    return Symbolic(make(1, [F32], (n0, 3, n1), 3, [Section(body)], [n0, n1]), launch)


@symbolic
def window_sum(n0: Symbol, n1: Symbol) -> Symbolic:
    """Each element has a loop, which runs as often as a symbol says."""
    body: list[Statement] = [
        Let("zero", "float", "0.0f"),
        Load("a", 0, C0),
    ]
    loop = For("k", "i32", "0", "n1", [
        Load("w", 1, Affine.of("k")), Store(2, C0 * n1 + Affine.of("k"), Term(ADD, ("a", "w"))),
    ])  # fmt: skip

    def launch(rng, rows, columns):
        x, w = small(rng, rows), small(rng, columns)
        return Launch({"n0": rows, "n1": columns}, [x, w], [x[:, None] + w])

    sections = [Section([*body, loop])]
    return Symbolic(make(2, [F32], (n0,), 1, sections, [n1, n0]), launch)


@symbolic
def sum_and_center(n0: Symbol, n1: Symbol) -> Symbolic:
    """The sum of each row, stored and subtracted; a symbol is a number in both."""
    place = whole(n0, n1)
    sections = [
        Section(
            [Load("a", 0, dot((C0, C1), (STRIDE, 1)))],
            [total("sum", "a")],
            [Store(1, C0, Term("{0} + (float){1}", ("sum", "n1")))],
        ),
        Section(
            [
                Load("b", 0, dot((C0, C1), (STRIDE, 1))),
                Let("count0", "float", Term("(float){0}", ("n1",))),
                Store(2, place, Term("({0} - {1}) * {2}", ("b", "sum", "count0"))),
            ]
        ),
    ]

    def launch(rng, rows, columns):
        x = small(rng, rows, columns + 1)
        inside = x[:, :columns]
        sums = inside.sum(1)
        values = {"n0": rows, "n1": columns, "m0": columns + 1}
        return Launch(values, [x], [sums + columns, (inside - sums[:, None]) * columns])

    return Symbolic(make(1, [F32, F32], (n0, n1), 1, sections, [n0, n1, STRIDE]), launch)


@symbolic
def largest(n0: Symbol, n1: Symbol) -> Symbolic:
    """The maximum over dimensions that do not join."""
    most = fold("most", "float", "-0x1p127f", ("maximum({0}, {1})", "a"), "maximum({0}, {1})")
    sections = [Section([Load("a", 0, dot((C1, C0, C2), row_major((3, n0, n1))))], [most],
                        [Store(1, C0, "most")])]  # fmt: skip

    def launch(rng, rows, columns):
        x = small(rng, 3, rows, columns)
        expected = x.max((0, 2), initial=-(2.0**127)).astype(np.float32)
        return Launch({"n0": rows, "n1": columns}, [x], [expected])

    return Symbolic(make(1, [F32], (n0, 3, n1), 1, sections, [n0, n1]), launch)


@symbolic
def first_maximum(n0: Symbol, n1: Symbol) -> Symbolic:
    """A fold of two accumulators, whose combination uses a symbol."""
    better = "{0} > {1} || ({0} == {1} && {2} < {3})"

    def select(value, index):
        return [
            Let("better", "bool", Term(better, (value, "s0", index, "s1"))),
            Set("s0", Term("{0} ? {1} : {2}", ("better", value, "s0"))),
            Set("s1", Term("{0} ? {1} : {2}", ("better", index, "s1"))),
        ]

    combine = [*select("r0", "r1"), Set("s1", Term("min_of({0}, (i64){1})", ("s1", "n1")))]
    best = Fold(
        ("most", "index"), ("float", "i64"), ("-0x1p127f", "0x7fffl"), select("a", "i"), combine,
        ("s0", Term("min_of({0}, (i64)({1}))", ("s1", Affine.of("n1")))),
    )  # fmt: skip
    each = [Load("a", 0, whole(n0, n1)), Let("i", "i64", Term("(i64)({0})", (C1,)))]
    sections = [Section(each, [best], [Store(1, C0, "most"), Store(2, C0, "index")])]

    def launch(rng, rows, columns):
        x = rng.integers(0, 9, (rows, columns)).astype(np.float32)
        most = x.max(1, initial=-(2.0**127)).astype(np.float32)
        index = x.argmax(1) if columns else np.zeros(rows, np.int64)
        return Launch({"n0": rows, "n1": columns}, [x], [most, index])

    return Symbolic(make(1, [F32, I64], (n0, n1), 1, sections, [n0, n1]), launch)


# -- programs without symbols, with symbols for their sizes, strides and offsets


def with_symbols(
    rng: np.random.Generator, program: LoopProgram
) -> tuple[LoopProgram, dict[str, int]]:
    """Return a program of the same meaning for the values that are returned too.

    The symbols' hints are other numbers. Equal numbers have the same symbol, so that some dimensions join.
    """
    symbols: dict[int, Symbol] = {}

    def symbol(value: int) -> Symbol:
        if value not in symbols:
            hint = int(rng.choice([1, 5, 16, 40, 300, 5000]))
            symbols[value] = Symbol(f"n{len(symbols)}", hint)
        return symbols[value]

    def size(value: int) -> Size:
        return value if value in (0, 1) or rng.random() < 0.3 else symbol(value)

    def position(place: Affine) -> Affine:
        terms = tuple((c, size(f) if isinstance(c, int) else f) for c, f in place.terms)
        if place.constant and rng.random() < 0.5:
            return Affine(0, (*terms, (symbol(1).name, place.constant)))
        return Affine(place.constant, terms)

    def operand(value):
        if isinstance(value, Affine):
            return position(value)
        if isinstance(value, Term):
            return Term(value.template, tuple(map(operand, value.args)))
        return value

    def change(statement: Statement) -> Statement:
        if isinstance(statement, Load | Store):
            return statement._replace(position=position(statement.position))
        if isinstance(statement, Let):
            return statement._replace(value=operand(statement.value))
        assert not bodies(statement) or isinstance(statement, If | For)
        return statement

    shape = tuple(map(size, program.shape))
    sections = [
        replace(
            section,
            per_element=rewrite(section.per_element, change),
            per_row=rewrite(section.per_row, change),
        )
        for section in program.sections
    ]
    arrays = [replace(array, bytes=None) for array in program.arrays]
    made = replace(
        program,
        arrays=arrays,
        shape=shape,
        sections=sections,
        symbols=list(symbols.values()),
        wide=bool(rng.random() < 0.3),
    )
    return made, {symbol.name: value for value, symbol in symbols.items()}
