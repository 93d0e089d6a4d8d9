"""Pointwise loop programs written by hand."""

from __future__ import annotations

import numpy as np
from loop_case import at, case, floats, pointwise, whole

from xpu_runtime.codegen.affine import Affine, dot
from xpu_runtime.codegen.builder import Builder
from xpu_runtime.codegen.statements import If, Let, Load, Store, Term


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
def power_of_a_step(rng, rows, columns):
    """Both are the same for all elements; the step is the second of its array."""
    x, steps = floats(rng, rows, columns), np.array([9, 3, 9], np.float32)
    place = whole(rows, columns)
    body = [
        Load("a", 0, place),
        Load("step", 1, Affine(1)),
        Let("power", "float", Term("{0} * {0} * {0}", ("step",))),
        Store(2, place, Term("{0} * {1}", ("a", "power"))),
    ]
    return pointwise((rows, columns), body, [x, steps, np.zeros_like(x)], [None, None, x * 27])


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
