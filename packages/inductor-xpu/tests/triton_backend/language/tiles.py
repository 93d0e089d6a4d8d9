"""Operations on whole tiles: reductions, scans, shapes, sorts, products."""

from __future__ import annotations

from collections.abc import Iterator

from .case import INTEGERS, NUMBERS, TRITON, Case, Numbers, Result

# Loads a tile of M rows and N columns, and stores one of another shape.
_LOAD = """
    m = tl.arange(0, M)
    n = tl.arange(0, N)
    a = tl.load(a_ptr + m[:, None] * N + n[None, :])
"""
_COMBINE = """
@triton.jit
def pair(a_value, a_place, b_value, b_place):
    right = b_value > a_value
    return tl.where(right, b_value, a_value), tl.where(right, b_place, a_place)

@triton.jit
def welford(mean_a, square_a, count_a, mean_b, square_b, count_b):
    delta = mean_b - mean_a
    count = count_a + count_b
    part = tl.where(count == 0.0, 0.0, count_b / tl.where(count == 0.0, 1.0, count))
    return mean_a + delta * part, square_a + square_b + delta * delta * count_a * part, count

@triton.jit
def largest(a, b):
    return tl.maximum(a, b)

@triton.jit
def linear(f_a, s_a, f_b, s_b):
    return f_a * f_b, s_a * f_b + s_b

@triton.jit
def step(a, b):
    return a * 0.5 + b
"""
REDUCTIONS = {
    "sum": ("tl.sum(a, {axis})", NUMBERS),
    "max": ("tl.max(a, {axis})", NUMBERS),
    "min": ("tl.min(a, {axis})", NUMBERS),
    "xor_sum": ("tl.xor_sum(a, {axis})", INTEGERS),
    "argmax": ("tl.argmax(a, {axis})", ("i32", "i64", "f16", "f32")),
    "argmin": ("tl.argmin(a, {axis})", ("i32", "f32")),
    "reduce": ("tl.reduce(a, {axis}, largest)", ("i8", "f16", "f32")),
}
SHAPES = ((8, 64), (32, 16), (1, 128), (128, 1), (4, 4), (64, 256))
# A statement that makes `r` of a tile `a`, and the shape of `r` for a tile of 16x32.
SHAPED = {
    "trans": ("tl.trans(a)", (32, 16)),
    "permute": ("tl.permute(a, (1, 0))", (32, 16)),
    "reshape": ("tl.reshape(a, (8, 64))", (8, 64)),
    "ravel": ("tl.ravel(a)", (512,)),
    "view": ("a.reshape(4, 128)", (4, 128)),
    "trans_trans": ("tl.trans(tl.trans(a) * 2)", (16, 32)),
    "flip": ("tl.flip(a, 1)", (16, 32)),
    "sort": ("tl.sort(a, 1)", (16, 32)),
    "sort_descending": ("tl.sort(a, 1, descending=True)", (16, 32)),
    "topk": ("tl.topk(a, 8, 1)", (16, 8)),
    "cumulative_of_trans": ("tl.cumsum(tl.trans(a), 0)", (32, 16)),
    "join": ("tl.join(a, a * 2)", (16, 32, 2)),
    "interleave": ("tl.interleave(a, -a)", (16, 64)),
    "split": ("tl.split(tl.reshape(a, (16, 16, 2)))[1]", (16, 16)),
    "cat": ("tl.cat(tl.ravel(a), tl.ravel(a) + 1)", (1024,)),
    "cat_of_columns": ("tl.cat(a, a + 1, dim=1)", (16, 64)),
    "expand": ("tl.sum(a[:, None, :] + a[None, :, :], 2)", (16, 16)),
    "broadcast": ("tl.broadcast_to(tl.sum(a, 1)[:, None], (16, 8))", (16, 8)),
    "three_dims": ("tl.sum(tl.reshape(a, (4, 8, 16)), 1)", (4, 16)),
    "softmax": ("tl.softmax(a)", (16, 32)),
    "full": ("a + tl.full((16, 32), 3, a.dtype) + tl.zeros((16, 32), a.dtype)", (16, 32)),
    "swizzled": ("a + tl.zeros_like(a)", (16, 32)),
}
if TRITON < (3, 9):
    SHAPED["cat_in_any_order"] = (
        "tl.cat(tl.ravel(a), tl.ravel(a) + 1, can_reorder=True)",
        (1024,),
    )


def cases() -> Iterator[Case]:
    """Return all cases of this file."""
    yield from _reductions()
    yield from _scans()
    yield from _shapes()
    yield from _places()
    yield from _products()


def _tile(
    name: str,
    statement: str,
    dtype: str,
    result: Result,
    shape: tuple[int, int] = (16, 32),
    tolerance: float | None = None,
    kind: str = "any",
) -> Case:
    """Return a case that loads a tile `a`, makes `r` of it, and stores `r` row by row."""
    index = {
        0: "0",
        1: "tl.arange(0, R0)",
        2: "tl.arange(0, R0)[:, None] * R1 + tl.arange(0, R1)[None, :]",
        3: "tl.arange(0, R0)[:, None, None] * (R1 * R2) + tl.arange(0, R1)[None, :, None] * R2"
        " + tl.arange(0, R2)[None, None, :]",
    }[len(result.shape)]
    sizes = {f"R{i}": size for i, size in enumerate(result.shape)}
    parameters = "".join(f", {name}: tl.constexpr" for name in ("M", "N", *sizes))
    source = (
        f"def kernel(a_ptr, out_ptr{parameters}):{_LOAD}    r = {statement}\n"
        f"    tl.store(out_ptr + {index}, r)\n"
    )
    stored = Result(result.dtype, result.shape or (1,))
    constants = {"M": shape[0], "N": shape[1], **sizes}
    if tolerance is None and dtype in ("f16", "bf16"):
        tolerance = 6e-2  # sums are rounded in another order
    return Case(
        name,
        source,
        (Numbers(dtype, shape, kind), stored),
        constants,
        helpers=_COMBINE,
        tolerance=tolerance,
        dtype=dtype,
    )


def _reductions() -> Iterator[Case]:
    for name, (expression, types) in REDUCTIONS.items():
        for dtype in types:
            out = "i32" if name.startswith("arg") else dtype
            if name == "sum" and dtype in ("i8", "i16", "u8", "u16"):
                out = "u32" if dtype.startswith("u") else "i32"
            for axis in (0, 1):
                shape = (16, 32)
                text = expression.format(axis=axis)
                yield _tile(f"{name}-{dtype}-{axis}", text, dtype, Result(out, (shape[1 - axis],)))
    for rows, columns in SHAPES:
        for axis, left in ((0, columns), (1, rows)):
            shape = (rows, columns)
            name = f"{rows}x{columns}-{axis}"
            yield _tile(f"sum-{name}", f"tl.sum(a, {axis})", "f32", Result("f32", (left,)), shape)
            yield _tile(
                f"argmax-{name}", f"tl.argmax(a, {axis})", "i32", Result("i32", (left,)), shape
            )
    for name, text, dtype in (
        ("sum-all", "tl.sum(a)", "f32"),
        ("max-all", "tl.max(a)", "i32"),
        ("sum-twice", "tl.sum(tl.sum(a, 0), 0)", "f32"),
        ("sum-of-product", "tl.sum(a * a, 1).to(tl.float32).sum()", "f32"),
    ):
        yield _tile(name, text, dtype, Result(dtype, ()))
    column = Result("f32", (16, 1))
    yield _tile("sum-keep_dims", "tl.sum(a, 1, keep_dims=True)", "f32", column)
    pairs = "tl.reduce((a, tl.broadcast_to(n[None, :], (M, N))), 1, pair)[{}]"
    yield _tile("reduce-pair-value", pairs.format(0), "f32", Result("f32", (16,)))
    yield _tile("reduce-pair-place", pairs.format(1), "f32", Result("i32", (16,)))
    three = "tl.reduce((a, tl.zeros_like(a), tl.full((M, N), 1.0, tl.float32)), {}, welford)[{}]"
    for axis, left in ((0, 32), (1, 16)):
        for part in range(3):
            result = Result("f32", (left,))
            yield _tile(
                f"welford-{axis}-{part}", three.format(axis, part), "f32", result, tolerance=1e-4
            )
    indices = "tl.max(a, 1, return_indices=True)[1]"
    yield _tile("max-with-indices", indices, "f32", Result("i32", (16,)))
    yield _tile(
        "max-right", "tl.argmax(a > 0, 1, tie_break_left=True)", "f32", Result("i32", (16,))
    )
    yield _tile("max-nan", "tl.max(a, 1)", "f32", Result("f32", (16,)), kind="special")


def _scans() -> Iterator[Case]:
    for dtype in ("i32", "i64", "f16", "f32", "f64"):
        for axis in (0, 1):
            result = Result(dtype, (16, 32))
            for reverse in (False, True):
                text = f"tl.cumsum(a, {axis}, reverse={reverse})"
                yield _tile(f"cumsum-{dtype}-{axis}-{reverse}", text, dtype, result)
    for axis in (0, 1):
        yield _tile(
            f"cumprod-{axis}", f"tl.cumprod(a * 0.5, {axis})", "f32", Result("f32", (16, 32))
        )
        for reverse in (False, True):
            name = f"{axis}-{reverse}"
            result = Result("f32", (16, 32))
            text = f"tl.associative_scan(a, {axis}, largest, reverse={reverse})"
            yield _tile(f"scan-max-{name}", text, "f32", result)
            text = f"tl.associative_scan((a * 0.3, a), {axis}, linear, reverse={reverse})[1]"
            yield _tile(f"scan-linear-{name}", text, "f32", result, tolerance=1e-4)
    for shape in ((1, 256), (2, 8), (128, 4)):
        result = Result("f32", shape)
        yield _tile(f"cumsum-{shape[0]}x{shape[1]}", "tl.cumsum(a, 1)", "f32", result, shape)


def _shapes() -> Iterator[Case]:
    for name, (statement, shape) in SHAPED.items():
        # The interpreter does no arithmetic with constants in bf16.
        half = "f16" if any(text in statement for text in ("*", "+", "sum")) else "bf16"
        for dtype in ("f32",) if name == "softmax" else ("f32", "i16", half):
            yield _tile(f"{name}-{dtype}", statement, dtype, Result(dtype, shape))


def _places() -> Iterator[Case]:
    source = """
def kernel(a_ptr, out_ptr, N: tl.constexpr, BINS: tl.constexpr):
    a = tl.load(a_ptr + tl.arange(0, N))
    tl.store(out_ptr + tl.arange(0, BINS), tl.histogram(a, BINS))
"""
    for count, bins in ((256, 16), (64, 128), (1024, 2)):
        arguments = (Numbers("i32", (count,), (0, bins)), Result("i32", (bins,)))
        yield Case(f"histogram-{count}-{bins}", source, arguments, {"N": count, "BINS": bins})
    source = """
def kernel(a_ptr, i_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, AXIS: tl.constexpr):
    at = tl.arange(0, M)[:, None] * N + tl.arange(0, N)[None, :]
    tl.store(out_ptr + at, tl.gather(tl.load(a_ptr + at), tl.load(i_ptr + at), AXIS))
"""
    for axis, size in ((0, 16), (1, 32)):
        for dtype in ("f32", "i8"):
            shape = (16, 32)
            index = Numbers("i32", shape, (0, size))
            arguments = (Numbers(dtype, shape), index, Result(dtype, shape))
            constants = {"M": 16, "N": 32, "AXIS": axis}
            yield Case(f"gather-{dtype}-{axis}", source, arguments, constants)


def _products() -> Iterator[Case]:
    source = """
def kernel(a_ptr, b_ptr, out_ptr, M: tl.constexpr, N: tl.constexpr, K: tl.constexpr):
    m, n, k = tl.arange(0, M), tl.arange(0, N), tl.arange(0, K)
    a = tl.load(a_ptr + m[:, None] * K + k[None, :])
    b = tl.load(b_ptr + k[:, None] * N + n[None, :])
    tl.store(out_ptr + m[:, None] * N + n[None, :], {product})
"""
    plain = "tl.dot(a, b)"
    for dtype in ("f16", "bf16", "f32", "i8", "f8e4m3", "f8e5m2"):
        for m, n, k in ((16, 16, 16), (32, 64, 32), (64, 16, 128), (128, 128, 32)):
            out = "i32" if dtype == "i8" else "f32"
            arguments = (Numbers(dtype, (m, k)), Numbers(dtype, (k, n)), Result(out, (m, n)))
            constants = {"M": m, "N": n, "K": k}
            name = f"dot-{dtype}-{m}x{n}x{k}"
            text = source.replace("{product}", plain)
            yield Case(name, text, arguments, constants, tolerance=2e-4, dtype=dtype)
    square = (Numbers("f32", (32, 32)), Numbers("f32", (32, 32)), Result("f32", (32, 32)))
    sizes = {"M": 32, "N": 32, "K": 32}
    for name, product in {
        "accumulator": "tl.dot(a, b, tl.full((M, N), 1.5, tl.float32))",
        "transposed": "tl.dot(tl.trans(a), tl.trans(b))",
        "ieee": 'tl.dot(a, b, input_precision="ieee")',
        "tf32x3": 'tl.dot(a, b, input_precision="tf32x3")',
        "chain": "tl.dot(tl.dot(a, b) * 0.1, b)",
        "of_sums": "tl.dot(a + 1.0, b * 2.0) + tl.sum(a, 1)[:, None]",
        "half": "tl.dot(a.to(tl.float16), b.to(tl.float16), out_dtype=tl.float16)",
    }.items():
        tolerance = 2e-2 if name == "half" else 1e-3
        text = source.replace("{product}", product)
        yield Case(f"dot-{name}", text, square, sizes, tolerance=tolerance)
    source = """
def kernel(a_ptr, b_ptr, out_ptr, B: tl.constexpr, M: tl.constexpr):
    at = tl.arange(0, B)[:, None, None] * (M * M) + tl.arange(0, M)[None, :, None] * M + tl.arange(0, M)[None, None, :]
    tl.store(out_ptr + at, tl.dot(tl.load(a_ptr + at), tl.load(b_ptr + at)))
"""
    shape = (4, 16, 16)
    for dtype in ("f32", "f16"):
        arguments = (Numbers(dtype, shape), Numbers(dtype, shape), Result("f32", shape))
        yield Case(f"dot-3d-{dtype}", source, arguments, {"B": 4, "M": 16}, tolerance=1e-3)
