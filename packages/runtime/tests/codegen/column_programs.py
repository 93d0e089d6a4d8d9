"""Loop programs whose lanes lie along the last parallel dimension, written by hand."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace

import numpy as np
from loop_case import Case, at, floats, fold, make, total

from xpu_runtime.codegen.affine import Affine
from xpu_runtime.codegen.elements import ELEMENTS
from xpu_runtime.codegen.program import Array, Fold, Section
from xpu_runtime.codegen.statements import If, Let, Load, Set, Store, Term, Var

# Elements behind a result, which no lane beyond the last column may write.
BEHIND = 300

COLUMN_CASES: dict[str, Callable[..., Case]] = {}


def _case(function: Callable[..., Case]) -> Callable[..., Case]:
    def columns_case(rng: np.random.Generator, folded: int, columns: int) -> Case:
        case = function(rng, folded, columns)
        return replace(case, program=replace(case.program, lanes_on_parallel=True))

    COLUMN_CASES[function.__name__] = columns_case
    return columns_case


def _most(value: str) -> Fold:
    return fold("most", "float", "-0x1p127f", ("maximum({0}, {1})", value), "maximum({0}, {1})")


@_case
def column_sum(rng, folded, columns):
    x = floats(rng, folded, columns)
    section = Section(
        [Load("a", 0, at(1, columns))], [total("sum", "a")], [Store(1, at(1, 0), "sum")]
    )
    behind = np.full(BEHIND, 7, np.float32)
    expected = np.concatenate([x.sum(0, dtype=np.float64).astype(np.float32), behind])
    out = np.concatenate([np.zeros(columns, np.float32), behind])
    return make((columns, folded), 1, [section], [x, out], [None, expected], tolerance=1e-4)


@_case
def argmax(rng, folded, columns):
    """Two accumulators; the first of equal elements is found."""
    x = rng.integers(0, 9, (folded, columns)).astype(np.float32)
    row = Affine.of(1) if folded > 1 else Affine()
    update = [
        Let("better", "bool", Term("{0} > {1}", ("a", "s0"))),
        Set("s0", Term("{0} ? {1} : {2}", ("better", "a", "s0"))),
        Set("s1", Term("{0} ? (i64)({1}) : {2}", ("better", row, "s1"))),
    ]
    combine = [Set("s0", Term("maximum({0}, {1})", ("s0", "r0")))]
    best = Fold(
        ("most", "number"), ("float", "i64"), ("-1.0f", "(i64)-1"), update, combine, ("s0", "s1")
    )
    section = Section(
        [Load("a", 0, at(1, columns))],
        [best],
        [Store(1, at(1, 0), "number"), Store(2, at(1, 0), "most")],
    )
    return make(
        (columns, folded), 1, [section],
        [x, np.zeros(columns, np.int64), np.zeros(columns, np.float32)],
        [None, x.argmax(0), x.max(0)],
    )  # fmt: skip


@_case
def softmax(rng, folded, columns):
    """Three sections; the last one reads what the second one stored."""
    x = floats(rng, folded, columns)
    place = at(1, columns)
    power = Let("power", "float", Term("exp({0} - {1})", ("b", "most")))
    share = Let("share", "float", Term("1.0f / {0}", ("sum",)))
    sections = [
        Section([Load("a", 0, place)], [_most("a")]),
        Section([Load("b", 0, place), power, Store(1, place, "power")], [total("sum", "power")]),
        Section([share, Load("p", 1, place), Store(1, place, Term("{0} * {1}", ("p", "share")))]),
    ]
    e = np.exp(x - x.max(0))
    return make((columns, folded), 1, sections, [x, np.zeros_like(x)], [None, e / e.sum(0)])


@_case
def two_folds(rng, folded, columns):
    """Two folds of a section, whose results the next section's fold uses in its ``finish``."""
    x = rng.integers(-50, 50, (folded, columns)).astype(np.int32)
    place = at(1, columns)
    sums = fold("sum", "i32", "0", ("{0} + {1}", "a"), "{0} + {1}")
    least = fold("least", "i32", "100", ("min_of({0}, {1})", "a"), "min_of({0}, {1})", "s0")
    above = fold(
        "above", "i32", "0", ("{0} + {1}", "d"), "{0} + {1}", Term("{0} * 2 + {1}", ("s0", "sum"))
    )
    sections = [
        Section([Load("a", 0, place)], [sums, least], [Store(1, at(1, 0), "least")]),
        Section(
            [Load("b", 0, place), Let("d", "i32", Term("{0} - {1}", ("b", "least")))],
            [above],
            [Store(2, at(1, 0), "above")],
        ),
    ]
    distance = (x - x.min(0)).sum(0) * 2 + x.sum(0)
    out = np.zeros(columns, np.int32)
    return make(
        (columns, folded), 1, sections, [x, out, out], [None, x.min(0), distance.astype(np.int32)]
    )


@_case
def several_dimensions(rng, folded, columns):
    """Two folded dimensions around a parallel one, which no one counter iterates over, in two batches."""
    x = floats(rng, 2, folded, 3, columns, 2)
    place = at(6 * folded * columns, 2, 6 * columns, 1) + Affine(2 * columns)
    section = Section(
        [Load("a", 0, place)], [total("sum", "a")], [Store(1, at(columns, 1, 0, 0), "sum")]
    )
    expected = x[:, :, 1].sum((1, 3), dtype=np.float64).astype(np.float32)
    return make(
        (2, columns, folded, 2), 2, [section], [x, np.zeros((2, columns), np.float32)],
        [None, expected], tolerance=1e-4,
    )  # fmt: skip


@_case
def short_last_dimension(rng, folded, columns):
    """Rows of 3 columns that are not contiguous: lanes lie along all of them."""
    x = floats(rng, folded, columns, 4)
    section = Section(
        [Load("a", 0, at(4, 1, 4 * columns))],
        [total("sum", "a")],
        [Store(1, at(1, columns), "sum")],
    )
    expected = x[:, :, :3].sum(0, dtype=np.float64).astype(np.float32).T
    return make(
        (columns, 3, folded), 2, [section], [x, np.zeros((3, columns), np.float32)],
        [None, expected], tolerance=1e-4,
    )  # fmt: skip


@_case
def masked_difference(rng, folded, columns):
    """Loads of the next row, which the last row does not have, and of a scale for each column."""
    x, scale = floats(rng, folded, columns), floats(rng, columns)
    counter = Affine.of(1)
    following = Load(
        "b", 0, at(1, columns) + columns, Term(f"{{0}} < {folded - 1}", (counter,)), "0.0f"
    )
    section = Section(
        [Load("a", 0, at(1, columns)), following, Let("d", "float", Term("{0} - {1}", ("a", "b")))],
        [fold("sum", "float", "0.0f", ("{0} + abs({1})", "d"), "{0} + {1}")],
        [
            Load("w", 1, at(1, 0)),
            Var("result", "float", "-1.0f"),
            If(Term("{0} > 0", ("w",)), [Set("result", Term("{0} * {1}", ("sum", "w")))]),
            Store(2, at(1, 0), "result"),
        ],
    )
    next_row = np.concatenate([x[1:], np.zeros((1, columns), np.float32)])
    sums = np.abs(x - next_row).sum(0, dtype=np.float64)
    expected = np.where(scale > 0, sums * scale, -1).astype(np.float32)
    return make(
        (columns, folded), 1, [section], [x, scale, np.zeros(columns, np.float32)],
        [None, None, expected], tolerance=1e-4,
    )  # fmt: skip


@_case
def distance_to_clamped_sum(rng, folded, columns):
    """A variable that one section sets for each column, and the next one reads."""
    x = floats(rng, folded, columns)
    place = at(1, columns)
    sections = [
        Section(
            [Load("a", 0, place)],
            [total("sum", "a")],
            [
                Var("limit", "float", "1.0f"),
                If(Term("{0} < {1}", ("sum", "limit")), [Set("limit", "sum")]),
            ],
        ),
        Section(
            [Load("b", 0, place), Store(1, place, Term("{0} - {1}", ("b", "limit")))],
        ),
    ]
    expected = (x - np.minimum(x.sum(0, dtype=np.float64), 1)).astype(np.float32)
    return make(
        (columns, folded), 1, sections, [x, np.zeros_like(x)], [None, expected], tolerance=1e-4
    )


@_case
def counts(rng, folded, columns):
    """Each element and each column is counted once; columns without a one store nothing."""
    x = rng.integers(0, 2, (folded, columns)).astype(np.int32)
    ones = fold("ones", "i32", "0", ("{0} + {1}", "a"), "{0} + {1}")
    sections = [
        Section(
            [Load("a", 0, at(1, columns)), Store(1, Affine(), "(i32)1", "add")],
            [ones],
            [If(Term("{0} != 0", ("ones",)), [Store(1, Affine(1), "(i32)1", "add")])],
        ),
        Section([If(Term("{0} == 0", ("ones",)), [Store(2, at(1, columns), "(i32)1")])]),
    ]
    found = np.array([x.size, x.any(0).sum()], np.int32)
    none = np.broadcast_to(~x.any(0), x.shape).astype(np.int32)
    return make(
        (columns, folded), 1, sections, [x, np.zeros(2, np.int32), np.zeros_like(x)],
        [None, found, none],
    )  # fmt: skip


@_case
def sum_of_bf16(rng, folded, columns):
    """Whole numbers, whose sums are exact."""
    numbers = rng.integers(-2, 3, (folded, columns)).astype(np.float32)
    numbers[numbers.cumsum(0) % 2 == 1] = 0
    section = Section(
        [Load("a", 0, at(1, columns))], [total("sum", "a")], [Store(1, at(1, 0), "sum")]
    )
    bits = (numbers.view(np.uint32) >> 16).astype(np.uint16)
    sums = (numbers.sum(0).view(np.uint32) >> 16).astype(np.uint16)
    case = make((columns, folded), 1, [section], [bits, np.zeros_like(sums)], [None, sums])
    element = ELEMENTS["bf16"]
    arrays = [Array(element, bits.nbytes), Array(element, sums.nbytes, True)]
    return replace(case, program=replace(case.program, arrays=arrays))
