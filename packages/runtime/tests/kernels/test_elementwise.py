"""Elementwise operations from expressions: layouts, dtypes, broadcasting, several outputs, positions."""

import ml_dtypes
import numpy as np
import pytest
from layouts import FLOATS, LAYOUTS, NUMPY, Placed
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")


@pytest.fixture(scope="module")
def op(xr):
    """Operations by name, each made once."""
    make = xr.kernels.Elementwise
    return {
        "add": make("add", "a0 + a1", inputs=2),
        "axpy": make("axpy", "p0 * a0 + a1", inputs=2, scalars=1),
        "exp": make("exp", "xpu::exp(a0)", headers=["exp"]),
        "where": make("where", "a0 ? a1 : a2", inputs=3, unconverted_inputs=[0]),
        "minmax": make(
            "minmax",
            ["xpu::minimum(a0, a1)", "xpu::maximum(a0, a1)"],
            inputs=2,
            headers=["math", "integer"],
        ),
        "less": make("less", "a0 < a1", inputs=2),
        "index": make("index", "index", inputs=0, headers=[], uses_index=True),
        "ramp": make("ramp", "a0 + (T)index", headers=[], uses_index=True),
        "sum8": make("sum8", " + ".join(f"a{i}" for i in range(8)), inputs=8),
        "mul": make("mul", "a0 * a1", inputs=2, headers=[]),
    }


SHAPES = [
    (),
    (0,),
    (1,),
    (31,),
    (4097,),
    (5, 0),
    (9, 33),
    (33, 9),
    (129, 260),
    (3, 5, 7),
    (40, 3, 50),
    (2, 3, 2, 3, 2, 3, 2),
]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("first", LAYOUTS)
@pytest.mark.parametrize("second", LAYOUTS)
def test_layouts(op, rng, shape, first, second):
    a = Placed(shape, "f32", first, rng.standard_normal(shape))
    b = Placed(shape, "f32", second, rng.standard_normal(shape))
    for target in ("contiguous", "transposed", "reversed"):
        out = Placed(shape, "f32", target)
        op["add"](out.array, [a.array, b.array])
        assert_close(out.result(), np.asarray(a.host + b.host))


@pytest.mark.parametrize(
    ("shape", "a_shape", "b_shape"),
    [
        ((6, 70), (6, 1), (70,)),
        ((6, 70), (1,), (6, 70)),
        ((6, 70), (), ()),
        ((70, 6), (70, 1), (1, 6)),
        ((3, 4, 50), (4, 1), (3, 1, 50)),
        ((2, 3, 4, 5), (3, 1, 1), (2, 1, 1, 5)),
        ((1000, 3), (3,), (1000, 1)),
    ],
    ids=str,
)
def test_broadcast(op, rng, shape, a_shape, b_shape):
    a = Placed(a_shape, "f32", values=rng.standard_normal(a_shape))
    b = Placed(b_shape, "f32", values=rng.standard_normal(b_shape))
    out = Placed(shape, "f32", "padded")
    op["add"](out.array, [a.array, b.array])
    assert_close(out.result(), np.broadcast_to(a.host + b.host, shape))


@pytest.mark.parametrize("dtype", [d for d in NUMPY if d != "bool"])
def test_dtypes(op, rng, dtype):
    kind = NUMPY[dtype].kind
    values = rng.integers(0 if kind == "u" else -4, 5, (2, 300)).astype(NUMPY[dtype])
    if kind == "c":
        values = values + 1j * rng.integers(-4, 5, (2, 300))
    a, b = (Placed((300,), dtype, values=v) for v in values)
    out = Placed((300,), dtype)
    op["axpy"](out.array, [a.array, b.array], [2])
    wide = (
        np.complex128
        if kind == "c"
        else np.float64
        if NUMPY[dtype].itemsize and kind not in "iu"
        else np.int64
    )
    expected = 2 * a.host.astype(wide) + b.host.astype(wide)
    assert_close(out.result(), expected.astype(NUMPY[dtype]))


@pytest.mark.parametrize(
    "inputs",
    [
        ("i32", "f32"),
        ("bf16", "f16"),
        ("bool", "i64"),
        ("u8", "i8"),
        ("f32", "f64"),
        ("c64", "f32"),
        ("f8e4m3", "bf16"),
    ],
)
@pytest.mark.parametrize("output", ["f32", "f16", "i32", "c64", "f64"])
def test_mixed_dtypes(xr, op, rng, inputs, output):
    a, b = (Placed((99,), d, values=rng.integers(0, 2, 99)) for d in inputs)
    out = Placed((99,), output)
    op["add"](out.array, [a.array, b.array])
    wide = np.complex128
    expected = a.host.astype(wide) + b.host.astype(wide)
    expected = expected if output == "c64" else expected.real
    assert_close(out.result(), expected.astype(NUMPY[output]))


def test_the_compute_dtype_is_where_arithmetic_happens(xr, op):
    a, b = (Placed((2,), "i32", values=[2**30, -5]) for _ in range(2))
    wraps, wide = Placed((2,), "i64"), Placed((2,), "i64")
    op["mul"](wraps.array, [a.array, b.array], compute="i32")
    op["mul"](wide.array, [a.array, b.array], compute="i64")
    assert_close(wide.result(), np.array([2**60, 25]))
    assert_close(wraps.result(), np.array([0, 25]))


@pytest.mark.parametrize("dtype", [*FLOATS, "f8e4m3"])
def test_narrow_floats_are_rounded_once(op, rng, dtype):
    values = rng.standard_normal((2, 500)).astype(NUMPY[dtype])
    a, b = (Placed((500,), dtype, values=v) for v in values)
    out = Placed((500,), dtype)
    op["axpy"](out.array, [a.array, b.array], [0.3])
    opmath = np.float64 if dtype == "f64" else np.float32
    exact = np.float64(opmath(0.3)) * a.host.astype(np.float64) + b.host.astype(np.float64)
    expected = exact.astype(opmath).astype(NUMPY[dtype])
    tolerance = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-6, "f64": 1e-15, "f8e4m3": 0.13}[dtype]
    got = out.result()
    assert_close(
        got.astype(np.float64), expected.astype(np.float64), rtol=tolerance, atol=tolerance
    )


@pytest.mark.parametrize("dtype", FLOATS)
def test_exp(op, rng, dtype):
    a = Placed((3, 1000), dtype, "padded", rng.uniform(-5, 5, (3, 1000)))
    out = Placed((3, 1000), dtype)
    op["exp"](out.array, [a.array])
    expected = np.exp(a.host.astype(np.float64))
    rtol = {"f16": 1e-3, "bf16": 8e-3, "f32": 1e-6, "f64": 1e-14}[dtype]
    assert_close(out.result().astype(np.float64), expected, rtol=rtol)


@pytest.mark.parametrize("dtype", ["c64", "c128"])
def test_complex_functions(xr, rng, dtype):
    """Under the real functions' names; a real result goes into a real or a complex output."""
    real = {"c64": "f32", "c128": "f64"}[dtype]
    rtol = {"c64": 1e-6, "c128": 1e-14}[dtype]
    values = rng.normal(0, 2, (40, 30)) + 1j * rng.normal(0, 2, (40, 30))
    z = Placed((40, 30), dtype, "transposed", values)
    for name, expected in {"tanh": np.tanh, "abs": np.abs, "asin": np.arcsin}.items():
        op = xr.kernels.Elementwise(name, f"xpu::{name}(a0)", headers=["complex_math"])
        out, parts = Placed((40, 30), dtype), Placed((40, 30), real, "padded")
        op(out.array, [z.array])
        op(parts.array, [z.array])
        exact = expected(z.host.astype(np.complex128))
        assert_close(out.result(), exact.astype(NUMPY[dtype]), rtol=rtol)
        assert_close(parts.result(), exact.real.astype(NUMPY[real]), rtol=rtol)
    make = xr.kernels.Elementwise(
        "make", "xpu::complex(a0, a1)", inputs=2, headers=["complex_math"]
    )
    a, b = (Placed((40, 30), real, values=v) for v in (values.real, values.imag))
    whole = Placed((40, 30), dtype)
    make(whole.array, [a.array, b.array])
    assert_close(whole.result(), (a.host + 1j * b.host).astype(NUMPY[dtype]))


def test_inputs_of_their_own_type(op, rng):
    condition = Placed((50, 40), "bool", "transposed", rng.integers(0, 2, (50, 40)))
    a = Placed((40,), "f16", values=rng.random(40))
    b = Placed((50, 1), "f16", values=rng.random((50, 1)))
    out = Placed((50, 40), "f16")
    op["where"](out.array, [condition.array, a.array, b.array], compute="f16")
    assert_close(out.result(), np.where(condition.host, a.host, b.host))


@pytest.mark.parametrize("dtype", ["f32", "i16", "u64", "bf16"])
@pytest.mark.parametrize("layout", LAYOUTS)
def test_several_outputs(op, rng, dtype, layout):
    a, b = (Placed((70, 50), dtype, values=rng.integers(0, 100, (70, 50))) for _ in range(2))
    low, high = Placed((70, 50), dtype, layout), Placed((70, 50), "f32", "padded")
    op["minmax"]([low.array, high.array], [a.array, b.array])
    assert_close(low.result(), np.minimum(a.host, b.host))
    assert_close(high.result(), np.maximum(a.host, b.host).astype(np.float32))


def test_boolean_output(op, rng):
    a, b = (Placed((1000,), "i8", values=rng.integers(-3, 4, 1000)) for _ in range(2))
    out = Placed((1000,), "bool", "every second")
    op["less"](out.array, [a.array, b.array])
    assert_close(out.result(), a.host < b.host)


@pytest.mark.values
def test_any_byte_but_zero_is_true(xr, op):
    stored = xr.from_numpy(np.array([0, 1, 2, 255], np.uint8))
    out = xr.zeros(4, "i32")
    op["add"](out, [stored.reinterpret("bool"), xr.zeros(4, "i32")])
    assert list(out.numpy()) == [0, 1, 1, 1]


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("layout", LAYOUTS)
def test_index_counts_row_major_in_any_layout(op, shape, layout):
    out = Placed(shape, "i64", layout)
    op["index"](out.array)
    assert_close(out.result(), np.arange(out.host.size).reshape(shape))
    ramp = Placed(shape, "i64", layout)
    zero = Placed((1,) * len(shape), "i64", values=7)
    op["ramp"](ramp.array, [zero.array])
    assert_close(ramp.result(), 7 + np.arange(out.host.size).reshape(shape))


def test_in_place(op, rng):
    a = Placed((60, 70), "f32", "transposed", rng.random((60, 70)))
    expected = a.host + a.host
    op["add"](a.array, [a.array, a.array])
    assert_close(a.result(), expected)


def test_many_operands(op, rng):
    arrays = [
        Placed((10, 40), "f32", LAYOUTS[i % 5], rng.integers(0, 9, (10, 40))) for i in range(8)
    ]
    out = Placed((10, 40), "f32")
    op["sum8"](out.array, [a.array for a in arrays])
    assert_close(out.result(), np.sum([a.host for a in arrays], 0, dtype=np.float32))


def test_offsets_beyond_31_bits(xr, op):
    far = xr.empty((2**31 + 4096,), "u8").view((2, 2, 64), (2**30, 2**30 + 1000, 1))
    values = np.arange(256, dtype=np.uint8).reshape(2, 2, 64)
    xr.kernels.copy(far, xr.from_numpy(values))
    for shape, axes in (((2, 2, 64), (0, 1, 2)), ((64, 2, 2), (2, 1, 0))):
        out = Placed(shape, "u8")
        view = far.transpose(*axes)
        op["add"](out.array, [view, xr.zeros((1,), "u8")])
        assert_close(out.result(), values.transpose(axes))


def test_more_elements_than_31_bits(xr, op):
    n = 2**31 + 100
    big = xr.zeros((n,), "u8")
    tail = big.view((200,), (1,), n - 200)
    xr.kernels.fill(tail, 3)
    op["add"](big, [big, big.view((n,), (0,), n - 1)])
    assert_close(tail.numpy(), np.full(200, 6, np.uint8))
    assert_close(big.view((200,), (1,)).numpy(), np.full(200, 3, np.uint8))


def test_a_run_repeats_bit_for_bit(op, rng):
    a = Placed((333, 77), "bf16", "transposed", rng.random((333, 77)))

    def run():
        out = Placed((333, 77), "bf16")
        op["exp"](out.array, [a.array])
        return out.result()

    assert_repeatable(run)


@pytest.mark.parametrize(
    ("a", "b", "expected"),
    [
        ("bool", "u8", "u8"),
        ("u8", "i8", "i16"),
        ("i32", "u8", "i32"),
        ("u32", "i32", "i64"),
        ("i64", "f16", "f16"),
        ("f16", "bf16", "f32"),
        ("f32", "f64", "f64"),
        ("f8e4m3", "f8e5m2", "f32"),
        ("f8e4m3", "bf16", "bf16"),
        ("c64", "f64", "c128"),
        ("c64", "i64", "c64"),
    ],
)
def test_promotion(xr, a, b, expected):
    assert xr.kernels.promote(a, b) == expected
    assert xr.kernels.promote(b, a) == expected


def test_a_wrong_expression_gives_the_compilers_words(xr):
    bad = xr.kernels.Elementwise("bad", "a0 + nonsense")
    a = xr.zeros(4)
    with pytest.raises(xr.CompileError, match="nonsense"):
        bad(a, [a])


def test_bad_calls_say_what_is_wrong(xr, op):
    a, b = xr.zeros((4, 5)), xr.zeros((4, 6))
    with pytest.raises(xr.UsageError, match="got 1 outputs and 1 inputs, expected 1 and 2"):
        op["add"](a, [a])
    with pytest.raises(xr.UsageError, match="got 0 scalars, expected 1"):
        op["axpy"](a, [a, a])
    with pytest.raises(xr.UsageError, match=r"input 1 is .* does not broadcast"):
        op["add"](a, [a, b])
    with pytest.raises(xr.UsageError, match=r"output 1 is .* expected the shape of output 0"):
        op["minmax"]([a, b], [a, a])
    with pytest.raises(xr.UsageError, match="expected letters, digits and underscores"):
        xr.kernels.Elementwise("two words", "a0")
    with pytest.raises(xr.UsageError, match="got 13 operands, expected at most 12"):
        xr.kernels.Elementwise("wide", "a0", inputs=12)
    with pytest.raises(xr.UsageError, match="got 65 dimensions"):
        op["add"](a.view((1,) * 65, (1,) * 65), [a, a])


MANY = {"wires": (2,) * 14, "between_ones": (2, 1) * 13, "most": (1,) * 50 + (2,) * 14}


@pytest.mark.parametrize("shape", MANY.values(), ids=MANY)
def test_many_dimensions(op, rng, shape):
    a, b = (Placed(shape, "f32", "transposed", rng.integers(-3, 4, shape)) for _ in range(2))
    one, other = Placed(shape, "f32"), Placed(shape, "f32", "transposed")
    op["exp"](one.array, [a.array])
    assert_close(one.result(), np.exp(a.host), rtol=1e-6)
    op["add"](one.array, [a.array, b.array])
    assert_close(one.result(), a.host + b.host)
    op["sum8"](one.array, [a.array, b.array] * 4)
    assert_close(one.result(), 4 * (a.host + b.host))
    op["minmax"]([one.array, other.array], [a.array, b.array])
    assert_close(one.result(), np.minimum(a.host, b.host))
    assert_close(other.result(), np.maximum(a.host, b.host))
    op["ramp"](one.array, [a.array])
    places = np.arange(a.host.size, dtype="f4").reshape(shape)
    assert_close(one.result(), a.host + places)


@pytest.mark.values
def test_f8e4m3_has_no_infinity(op):
    a = Placed((6,), "f32", values=[1.0, 464.0, 465.0, -1e9, np.inf, np.nan])
    out = Placed((6,), "f8e4m3")
    op["add"](out.array, [a.array, Placed((6,), "f32", values=np.zeros(6)).array])
    assert_close(out.result().astype("f4"), np.array([1, 448, 448, -448, 448, np.nan], "f4"))


def test_values_near_the_edge_of_bf16(op):
    a = Placed((3,), "bf16", values=[3.3e38, 1e-40, np.nan])
    out = Placed((3,), "bf16")
    op["axpy"](out.array, [a.array, a.array], [1])
    with np.errstate(over="ignore"):
        assert_close(out.result(), (a.host.astype(np.float32) * 2).astype(ml_dtypes.bfloat16))
