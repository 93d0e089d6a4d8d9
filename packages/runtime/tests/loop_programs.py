"""Loop programs written by hand, with their arguments and what numpy computes of them."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from xpu_runtime.codegen.affine import Affine, counters, dot, row_major
from xpu_runtime.codegen.builder import Builder
from xpu_runtime.codegen.kernel import Kernel, module_source
from xpu_runtime.codegen.program import Array, Cache, Fold, LoopProgram, Section
from xpu_runtime.codegen.statements import (
    Block,
    If,
    Keep,
    Let,
    Load,
    Recall,
    Set,
    Store,
    Term,
    Var,
)
from xpu_runtime.codegen.target import Target
from xpu_runtime.codegen.write import write


class Element(NamedTuple):
    """An element type as the writers see it."""

    name: str
    stored: str
    math: str
    kind: str
    size: int


ELEMENTS = {
    "f32": Element("f32", "float", "float", "float", 4),
    "f64": Element("f64", "double", "double", "float", 8),
    "f16": Element("f16", "half", "float", "float", 2),
    "i32": Element("i32", "i32", "i32", "int", 4),
    "i64": Element("i64", "i64", "i64", "int", 8),
    "u8": Element("u8", "u8", "u8", "uint", 1),
    "bool": Element("bool", "u8", "bool", "bool", 1),
}
_NAMES = {
    np.dtype(name): short
    for name, short in (
        ("float32", "f32"),
        ("float64", "f64"),
        ("float16", "f16"),
        ("int32", "i32"),
        ("int64", "i64"),
        ("uint8", "u8"),
        ("bool", "bool"),
    )
}
HEADERS = ("math", "exp", "integer", "activation", "erf", "philox", "dropout", "atomic")


def target_of(device) -> Target:
    return Target(
        lanes=device.sub_group_size,
        units=device.max_compute_units,
        gpu=device.is_gpu,
        max_items=device.max_work_group_size,
        local_memory=device.local_memory,
    )


def source_of(kernel: Kernel) -> str:
    return module_source([("program", kernel.code)])


def run(xr, program: LoopProgram, arguments: list[np.ndarray], target: Target | None = None):
    """Run a program over copies of the arguments; return what they hold afterwards."""
    kernel = write(program, target or target_of(xr.Device(0)))
    built = xr.compile(source_of(kernel)).kernel("program")
    given = [xr.from_numpy(argument) for argument in arguments]
    sizes = [np.int64(size) for size in kernel.sizes]
    xr.launch(built, kernel.groups * kernel.group, kernel.group, [*given, *sizes])
    return [array.numpy() for array in given]


@dataclass
class Case:
    """A program, its arguments, and what they hold afterwards, or None where they do not change."""

    program: LoopProgram
    arguments: list[np.ndarray]
    expected: list[np.ndarray | None]
    tolerance: float = 1e-5


def make(shape, parallel_dims, sections, arguments, expected, caches=(), tolerance=1e-5) -> Case:
    arrays = [
        Array(ELEMENTS[_NAMES[a.dtype]], a.nbytes, e is not None)
        for a, e in zip(arguments, expected, strict=True)
    ]
    program = LoopProgram(arrays, shape, parallel_dims, sections, caches, HEADERS)
    return Case(program, arguments, expected, tolerance)


def pointwise(shape, statements, arguments, expected, tolerance=1e-5) -> Case:
    return make(shape, len(shape), [Section(statements)], arguments, expected, tolerance=tolerance)


def at(*strides: int, offset: int = 0) -> Affine:
    """The position of the counters of loops with these strides."""
    return dot(tuple(Affine.of(dim) for dim in range(len(strides))), strides) + offset


def whole(*shape: int) -> Affine:
    return dot(counters(shape), row_major(shape))


def fold(result, type, identity, update, combine, finish="s0") -> Fold:
    """A fold of one accumulator, ``{0}``; ``{1}`` is an element or another accumulator."""
    template, value = update
    return Fold(
        (result,),
        (type,),
        (identity,),
        [Set("s0", Term(template, ("s0", value)))],
        [Set("s0", Term(combine, ("s0", "r0")))],
        (finish,),
    )


def total(result: str, value: str) -> Fold:
    return fold(result, "float", "0.0f", ("{0} + {1}", value), "{0} + {1}")


CASES: dict[str, Callable[..., Case]] = {}


def case(function: Callable[..., Case]) -> Callable[..., Case]:
    CASES[function.__name__] = function
    return function


def floats(rng, *shape: int) -> np.ndarray:
    return rng.standard_normal(shape).astype(np.float32)


@case
def add(rng, rows, columns):
    x, y = floats(rng, rows, columns), floats(rng, rows, columns)
    place = whole(rows, columns)
    body = [
        Load("a", 0, place),
        Load("b", 1, place),
        Let("out", "float", Term("{0} + {1}", ("a", "b"))),
        Store(2, place, "out"),
    ]
    return pointwise((rows, columns), body, [x, y, np.zeros_like(x)], [None, None, x + y])


@case
def silu_of_sum_with_bias(rng, rows, columns):
    x, bias = floats(rng, rows, columns), floats(rng, columns)
    place = whole(rows, columns)
    body = [
        Load("a", 0, place),
        Load("b", 1, whole(1, columns)),
        Let("out", "float", Term("{0} + {1}", ("a", "b"))),
        Store(2, place, Term("{0} * logistic({0})", ("out",))),
    ]
    c = x + bias
    return pointwise(
        (rows, columns), body, [x, bias, np.zeros_like(x)], [None, None, c / (1 + np.exp(-c))]
    )


@case
def outer_product(rng, rows, columns):
    x, y = floats(rng, rows), floats(rng, columns)
    body = [
        Load("a", 0, at(1, 0) if rows > 1 else Affine()),
        Load("b", 1, at(0, 1) if columns > 1 else Affine()),
        Store(2, whole(rows, columns), Term("{0} * {1}", ("a", "b"))),
    ]
    out = np.zeros((rows, columns), np.float32)
    return pointwise((rows, columns), body, [x, y, out], [None, None, np.outer(x, y)])


@case
def transpose(rng, rows, columns):
    x = floats(rng, columns, rows)
    body = [Load("a", 0, at(1, rows)), Store(1, at(columns, 1), "a")]
    out = np.zeros((rows, columns), np.float32)
    return pointwise((rows, columns), body, [x, out], [None, x.T])


@case
def every_second_reversed(rng, rows, columns):
    x = floats(rng, rows, 2 * columns)
    body = [
        Load("a", 0, at(2 * columns, -2, offset=2 * columns - 1)),
        Store(1, at(columns, 1), "a"),
    ]
    out = np.zeros((rows, columns), np.float32)
    return pointwise((rows, columns), body, [x, out], [None, x[:, ::-2]])


@case
def half_scaled_in_place(rng, rows, columns):
    x = floats(rng, rows, columns).astype(np.float16)
    place = whole(rows, columns)
    body = [Load("a", 0, place), Store(0, place, Term("{0} * 0.5f", ("a",)))]
    return pointwise((rows, columns), body, [x], [x * np.float16(0.5)])


@case
def select_by_mask(rng, rows, columns):
    x, mask = floats(rng, rows, columns), rng.integers(0, 2, (rows, columns)).astype(bool)
    place = whole(rows, columns)
    body = [
        Load("m", 1, place),
        Load("a", 0, place, mask="m", other="-1.0f"),
        Store(2, place, "a"),
    ]
    expected = np.where(mask, x, np.float32(-1))
    return pointwise((rows, columns), body, [x, mask, np.zeros_like(x)], [None, None, expected])


@case
def padded(rng, rows, columns):
    """The array with a border of two zeros at both ends of each row."""
    x = floats(rng, rows, columns)
    wide = columns + 4
    inside = Affine.of(1) + -2
    b = Builder()
    name = b.var("float", "0.0f")
    with b.body() as body:
        b.add(Load("a", 0, at(columns, 1, offset=-2)))
        b.set(name, "a")
    b.add(If(Term(f"({{0}}) >= 0 && ({{0}}) < {columns}", (inside,)), body))
    b.add(Store(1, at(wide, 1), name))
    out = np.zeros((rows, wide), np.float32)
    return pointwise((rows, wide), b.statements, [x, out], [None, np.pad(x, ((0, 0), (2, 2)))])


@case
def moving_sum(rng, rows, columns):
    x = floats(rng, rows, columns + 4)
    b = Builder()
    name = b.var("float", "0.0f")
    with b.loop("5") as k:
        b.add(Load("a", 0, at(columns + 4, 1) + k))
        b.set(name, Term("{0} + {1}", (name, "a")))
    b.add(Store(1, at(columns, 1), name))
    expected = sum(x[:, k : k + columns] for k in range(5))
    out = np.zeros((rows, columns), np.float32)
    return pointwise((rows, columns), b.statements, [x, out], [None, expected])


@case
def gather_rows(rng, rows, columns):
    x, indices = floats(rng, 13, columns), rng.integers(0, 13, rows)
    body = [
        Load("i", 1, at(1, 0)),
        Load("a", 0, Affine.of("i") * columns + at(0, 1)),
        Store(2, at(columns, 1), "a"),
    ]
    out = np.zeros((rows, columns), np.float32)
    return pointwise((rows, columns), body, [x, indices, out], [None, None, x[indices]])


@case
def gather_where_inside(rng, rows, columns):
    """Elements by index; indices out of range give zero and touch nothing."""
    x, indices = floats(rng, 50), rng.integers(-1000, 1000, (rows, columns))
    indices[0, 0] = 7
    place = whole(rows, columns)
    body = [
        Load("i", 1, place),
        Let("ok", "bool", Term("(u64){0} < 50ul", ("i",))),
        Load("a", 0, Affine.of("i"), mask="ok", other="0.0f"),
        Store(2, place, "a"),
    ]
    ok = (indices >= 0) & (indices < 50)
    expected = np.where(ok, x[np.where(ok, indices, 0)], np.float32(0))
    out = np.zeros((rows, columns), np.float32)
    return pointwise((rows, columns), body, [x, indices, out], [None, None, expected])


@case
def scatter_add(rng, rows, columns):
    indices = rng.integers(0, 9, (rows, columns))
    body = [Load("i", 0, whole(rows, columns)), Store(1, Affine.of("i"), "(i32)1", combine="add")]
    expected = np.bincount(indices.ravel(), minlength=9).astype(np.int32)
    return pointwise((rows, columns), body, [indices, np.zeros(9, np.int32)], [None, expected])


@case
def dropout(rng, rows, columns):
    x = np.ones((rows, columns), np.float32)
    place = whole(rows, columns)
    body = [
        Load("a", 0, place),
        Let("r", "u32", Term("philox(1234ul, (u64)({0}), 5ul)[0]", (place,))),
        Let("keep", "bool", Term("uniform({0}) >= 0.25f", ("r",))),
        Store(1, place, Term("{0} ? {1} / 0.75f : 0.0f", ("keep", "a"))),
    ]
    words = philox(1234, np.arange(rows * columns, dtype=np.uint64), 5)
    is_left = (words >> np.uint32(8)).astype(np.float32) * np.float32(2.0**-24) >= 0.25
    expected = np.where(is_left, np.float32(1 / 0.75), np.float32(0)).reshape(rows, columns)
    return pointwise((rows, columns), body, [x, np.zeros_like(x)], [None, expected])


def philox(seed: int, subsequence: np.ndarray, block: int) -> np.ndarray:
    """The first of four words of Philox 4x32-10."""
    low, mask = np.uint64(32), np.uint64(0xFFFFFFFF)
    c = [
        np.full_like(subsequence, block),
        np.zeros_like(subsequence),
        subsequence & mask,
        subsequence >> low,
    ]
    k0, k1 = seed & 0xFFFFFFFF, seed >> 32
    for _ in range(10):
        a, b = c[0] * np.uint64(0xD2511F53), c[2] * np.uint64(0xCD9E8D57)
        c = [
            (b >> low) ^ c[1] ^ np.uint64(k0),
            b & mask,
            (a >> low) ^ c[3] ^ np.uint64(k1),
            a & mask,
        ]
        k0, k1 = (k0 + 0x9E3779B9) & 0xFFFFFFFF, (k1 + 0xBB67AE85) & 0xFFFFFFFF
    return c[0].astype(np.uint32)


@case
def brighter_pixels(rng, rows, columns):
    """Channels of pixels go from interleaved to planar: three bytes of a word are loaded at once."""
    x = rng.integers(0, 100, (rows, columns, 3)).astype(np.uint8)
    strides = (columns, rows * columns, 1)
    load = dot(tuple(map(Affine.of, (0, 2, 1))), (3 * columns, 3, 1))
    body = [
        Load("a", 0, load),
        Let("b", "u8", Term("(u8)({0} + 5)", ("a",))),
        Store(1, at(*strides), "b"),
    ]
    out = np.zeros((3, rows, columns), np.uint8)
    expected = (x + np.uint8(5)).transpose(2, 0, 1)
    return pointwise((rows, 3, columns), body, [x, out], [None, expected])


@case
def bytes_by_index(rng, rows, columns):
    x, indices = rng.integers(0, 2, 77).astype(bool), rng.integers(0, 77, (rows, columns))
    place = whole(rows, columns)
    body = [
        Load("i", 1, place),
        Load("a", 0, Affine.of("i")),
        Store(2, place, Term("!{0}", ("a",))),
    ]
    out = np.zeros((rows, columns), bool)
    return pointwise((rows, columns), body, [x, indices, out], [None, None, ~x[indices]])


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
