"""Loop programs with folds along rows, written by hand."""

from __future__ import annotations

import numpy as np
from loop_case import at, case, floats, fold, make, total, whole

from xpu_runtime.codegen.affine import Affine, dot
from xpu_runtime.codegen.program import Cache, Fold, Section
from xpu_runtime.codegen.statements import Block, If, Keep, Let, Load, Recall, Set, Store, Term, Var


@case
def row_sum(rng, rows, columns):
    x = floats(rng, rows, columns)
    section = Section(
        [Load("a", 0, whole(rows, columns))],
        [total("sum", "a")],
        [Store(1, at(1, 0), "sum")],
    )
    expected = x.sum(1, dtype=np.float64).astype(np.float32)
    return make(
        (rows, columns), 1, [section], [x, np.zeros(rows, np.float32)], [None, expected],
        tolerance=1e-4,
    )  # fmt: skip


@case
def log_sum_exp(rng, rows, columns):
    x = floats(rng, rows, columns)
    place = whole(rows, columns)
    most = fold("most", "float", "-0x1p127f", ("maximum({0}, {1})", "a"), "maximum({0}, {1})")
    sections = [
        Section([Load("a", 0, place)], [most]),
        Section(
            [Load("b", 0, place), Let("power", "float", Term("exp({0} - {1})", ("b", "most")))],
            [total("sum", "power")],
            [
                Block(
                    [
                        Let("out", "float", Term("log({0}) + {1}", ("sum", "most"))),
                        Store(1, at(1, 0), "out"),
                    ]
                )
            ],
        ),
    ]
    wide = x.astype(np.float64)
    expected = np.log(np.exp(wide).sum(1)).astype(np.float32)
    return make((rows, columns), 1, sections, [x, np.zeros(rows, np.float32)], [None, expected])


@case
def argmax(rng, rows, columns):
    x = rng.integers(0, 9, (rows, columns)).astype(np.float32)
    better = "{0} > {1} || ({0} == {1} && {2} < {3})"
    update = [
        Let("better", "bool", Term(better, ("a", "s0", "i", "s1"))),
        Set("s0", Term("{0} ? {1} : {2}", ("better", "a", "s0"))),
        Set("s1", Term("{0} ? {1} : {2}", ("better", "i", "s1"))),
    ]
    combine = [
        Let("better", "bool", Term(better, ("r0", "s0", "r1", "s1"))),
        Set("s0", Term("{0} ? {1} : {2}", ("better", "r0", "s0"))),
        Set("s1", Term("{0} ? {1} : {2}", ("better", "r1", "s1"))),
    ]
    best = Fold(
        ("most", "place"),
        ("float", "i64"),
        ("-0x1p127f", "0x7fffffffffffffffl"),
        update,
        combine,
        ("s0", "s1"),
    )
    section = Section(
        [
            Load("a", 0, whole(rows, columns)),
            Let("i", "i64", Term("(i64)({0})", (Affine.of(1) if columns > 1 else Affine(),))),
        ],
        [best],
        [Store(1, at(1, 0), "place")],
    )
    return make((rows, columns), 1, [section], [x, np.zeros(rows, np.int64)], [None, x.argmax(1)])


@case
def layer_norm(rng, rows, columns):
    """Two passes for the variance, and a third one that writes."""
    x, weight = floats(rng, rows, columns), floats(rng, columns)
    place = whole(rows, columns)
    along = whole(1, columns)
    sections = [
        Section([Load("a", 0, place)], [total("sum", "a")]),
        Section(
            [
                Load("b", 0, place),
                Let("mean", "float", Term(f"{{0}} / {columns}.0f", ("sum",))),
                Let("d", "float", Term("{0} - {1}", ("b", "mean"))),
                Let("square", "float", Term("{0} * {0}", ("d",))),
            ],
            [total("squares", "square")],
        ),
        Section(
            [
                Load("out", 0, place),
                Load("w", 1, along),
                Let("center", "float", Term(f"{{0}} / {columns}.0f", ("sum",))),
                Let("scale", "float", Term(f"rsqrt({{0}} / {columns}.0f + 1e-5f)", ("squares",))),
                Store(2, place, Term("({0} - {1}) * {2} * {3}", ("out", "center", "scale", "w"))),
            ]
        ),
    ]
    wide = x.astype(np.float64)
    centered = wide - wide.mean(1, keepdims=True)
    expected = centered / np.sqrt(wide.var(1, keepdims=True) + 1e-5) * weight
    return make(
        (rows, columns), 1, sections, [x, weight, np.zeros_like(x)],
        [None, None, expected.astype(np.float32)], tolerance=1e-4,
    )  # fmt: skip


def _softmax(rng, rows, columns, exponentials, share, caches=()):
    x = floats(rng, rows, columns)
    place = whole(rows, columns)
    most = fold("most", "float", "-0x1p127f", ("maximum({0}, {1})", "a"), "maximum({0}, {1})")
    sections = [
        Section([Load("a", 0, place)], [most]),
        Section(
            [
                Load("b", 0, place),
                Let("power", "float", Term("exp({0} - {1})", ("b", "most"))),
                exponentials(place),
            ],
            [total("sum", "power")],
        ),
        Section([share(place), Store(1, place, Term("{0} / {1}", ("out", "sum")))]),
    ]
    e = np.exp(x - x.max(1, keepdims=True))
    expected = e / e.sum(1, keepdims=True)
    return make((rows, columns), 1, sections, [x, np.zeros_like(x)], [None, expected], caches)


@case
def softmax_stored_in_output(rng, rows, columns):
    return _softmax(
        rng,
        rows,
        columns,
        lambda place: Store(1, place, "power"),
        lambda place: Load("out", 1, place),
    )


@case
def softmax_stored_in_local_memory(rng, rows, columns):
    return _softmax(
        rng,
        rows,
        columns,
        lambda place: Keep("powers", "power"),
        lambda place: Recall("out", "float", "powers"),
        [Cache("powers", "float")],
    )


@case
def norm_over_two_dimensions(rng, rows, columns):
    """A fold over two dimensions that no one counter iterates over."""
    x = floats(rng, 3, rows, columns)
    place = dot(tuple(map(Affine.of, range(3))), (columns, 3 * columns, 1))
    y = x.reshape(rows, 3, columns).transpose(1, 0, 2)
    section = Section(
        [Load("a", 0, place), Let("q", "float", Term("{0} * {0}", ("a",)))],
        [total("sum", "q")],
        [Store(1, at(1, 0, 0), Term("sqrt({0})", ("sum",)))],
    )
    expected = np.sqrt((y.astype(np.float64) ** 2).sum((1, 2))).astype(np.float32)
    return make(
        (3, rows, columns), 1, [section], [x, np.zeros(3, np.float32)], [None, expected],
        tolerance=1e-4,
    )  # fmt: skip


@case
def guarded_division(rng, rows, columns):
    """Rows of zeros divide by nothing: the quotient depends on the row alone, and stays in its branch."""
    x = rng.integers(0, 2, (rows, columns)).astype(np.int32)
    x[::2] = 0
    place = whole(rows, columns)
    ones = fold("ones", "i32", "0", ("{0} + {1}", "a"), "{0} + {1}")
    share = Let("share", "i32", Term("1200 / {0}", ("ones",)))
    sections = [
        Section([Load("a", 0, place)], [ones]),
        Section(
            [
                Var("result", "i32", "-1"),
                If(Term("{0} != 0", ("ones",)), [share, Set("result", "share")]),
                Store(1, place, "result"),
            ]
        ),
    ]
    count = x.sum(1, keepdims=True)
    quotient = np.where(count != 0, 1200 // np.maximum(count, 1), -1)
    expected = np.broadcast_to(quotient, x.shape).astype(np.int32)
    return make((rows, columns), 1, sections, [x, np.zeros_like(x)], [None, expected])


@case
def count_of_rows_with_ones(rng, rows, columns):
    """A store in a condition that holds for a whole row happens once, not once for each item."""
    x = (rng.random((rows, columns)) < 1 / columns).astype(np.int32)
    ones = fold("ones", "i32", "0", ("{0} + {1}", "a"), "{0} + {1}")
    section = Section(
        [Load("a", 0, whole(rows, columns))],
        [ones],
        [If(Term("{0} != 0", ("ones",)), [Store(1, Affine(), "(i32)1", combine="add")])],
    )
    expected = np.array([x.any(1).sum()], np.int32)
    return make((rows, columns), 1, [section], [x, np.zeros(1, np.int32)], [None, expected])
