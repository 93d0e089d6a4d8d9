"""Matmul by every candidate against numpy in float64."""

import itertools

import numpy as np
import pytest
from dnn_reference import check, rounded
from xpu_testing import Canary, assert_close, assert_repeatable

from xpu_runtime.array import Array

pytestmark = pytest.mark.usefixtures("device")

CANDIDATES = [
    *(pytest.param(name, marks=pytest.mark.onednn_matmul) for name in ("onednn", "onednn+sycl")),
    "sycl",
]


@pytest.fixture(params=CANDIDATES)
def candidate(request, xr):
    with xr.dnn.only_candidate(request.param):
        yield request.param


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize(
    "shape", [(1, 1, 1), (3, 5, 7), (64, 64, 64), (65, 130, 33), (1, 300, 200)]
)
def test_shapes_and_types(xr, rng, candidate, dtype, shape):
    m, n, k = shape
    a, b = rng.standard_normal((m, k)), rng.standard_normal((k, n))
    out = xr.dnn.matmul(xr.from_numpy(a, dtype), xr.from_numpy(b, dtype))
    check(out.numpy(), rounded(a, dtype) @ rounded(b, dtype), dtype)
    assert any(
        line.startswith(candidate + " ") and line.endswith(": used") for line in xr.dnn.explain()
    )


@pytest.mark.fp64
@pytest.mark.cpu_device  # oneDNN has f64 on some GPUs
def test_f64_is_done_by_the_plain_kernel(xr, rng):
    a, b = rng.standard_normal((33, 20)), rng.standard_normal((20, 65))
    check(xr.dnn.matmul(xr.from_numpy(a), xr.from_numpy(b)).numpy(), a @ b, "f64")
    assert "rejected" in xr.dnn.explain()[0]
    assert xr.dnn.explain()[-1] == "sycl matmul: used"


@pytest.mark.parametrize(
    ("left", "right"),
    [
        ((4, 5, 6), (4, 6, 7)),
        ((4, 5, 6), (6, 7)),
        ((5, 6), (3, 6, 7)),
        ((2, 1, 5, 6), (3, 6, 7)),
        ((1, 1, 5, 6), (2, 3, 6, 7)),
    ],
)
def test_batches_broadcast(xr, rng, candidate, left, right):
    a, b = rng.standard_normal(left), rng.standard_normal(right)
    out = xr.dnn.matmul(xr.from_numpy(a, "f32"), xr.from_numpy(b, "f32"))
    check(out.numpy(), a @ b, "f32")


@pytest.mark.parametrize("transposed", ["a", "b", "c", "ab", "abc"])
def test_transposed_operands(xr, rng, candidate, transposed):
    def make(values, name):
        return (
            xr.from_numpy(np.ascontiguousarray(values.T), "f32").transpose()
            if name in transposed
            else xr.from_numpy(values, "f32")
        )

    a, b = rng.standard_normal((40, 30)), rng.standard_normal((30, 50))
    out = xr.zeros((50, 40)).transpose() if "c" in transposed else xr.zeros((40, 50))
    xr.dnn.matmul(make(a, "a"), make(b, "b"), out)
    got = out.transpose().numpy().T if "c" in transposed else out.numpy()
    check(got, a @ b, "f32")


@pytest.mark.parametrize("with_bias", [False, True], ids=["plain", "bias"])
def test_a_batch_of_one_with_the_stride_of_the_rows(xr, rng, candidate, with_bias):
    """Heads of attention, [length, heads, size], as a batch of one: its stride is the rows' own."""
    heads, m, n, k = 2, 5, 7, 4

    def transposed_vector(length):
        host = rng.standard_normal((length, heads, k)).astype("f4").astype("f8")
        strides = (heads * k, k, heads * k, 1)
        array = xr.from_numpy(host, "f32")
        return host.transpose(1, 0, 2), array.view((1, heads, length, k), strides)

    (left, a), (right, b) = transposed_vector(m), transposed_vector(n)
    bias = np.arange(n, dtype="f8") if with_bias else np.zeros(n)
    options = {"bias": xr.from_numpy(bias, "f32")} if with_bias else {}
    out = xr.dnn.matmul(a, b.transpose(0, 1, 3, 2), **options)
    check(out.numpy()[0], left @ right.transpose(0, 2, 1) + bias, "f32")


def test_odd_strides_go_to_the_plain_kernel(xr, rng):
    a, b = rng.standard_normal((20, 30)), rng.standard_normal((30, 10))
    wide = np.zeros((20, 60))
    wide[:, ::2] = a
    view = xr.from_numpy(wide, "f32").view((20, 30), (60, 2))
    check(xr.dnn.matmul(view, xr.from_numpy(b, "f32")).numpy(), a @ b, "f32")
    said = xr.dnn.explain()
    assert "rejected" in said[0]
    assert said[-1] == "sycl matmul: used"


@pytest.mark.onednn_matmul
def test_rejection_says_why(xr, rng):
    a = xr.from_numpy(rng.standard_normal((4, 8)), "f32").view((4, 4), (8, 2))
    xr.dnn.matmul(a, a)
    assert (
        xr.dnn.explain()[0] == "onednn: rejected (neither of the last two dimensions of a is dense)"
    )
    with (
        xr.dnn.only_candidate("onednn"),
        pytest.raises(xr.Unsupported, match="neither of the last two"),
    ):
        xr.dnn.matmul(a, a)


def test_unknown_candidate(xr):
    a = xr.zeros((4, 4))
    with (
        xr.dnn.only_candidate("cublas"),
        pytest.raises(xr.Unsupported, match=r"onednn: not tried \(cublas is forced\)"),
    ):
        xr.dnn.matmul(a, a)


@pytest.mark.parametrize("transposed", [False, True])
@pytest.mark.parametrize("types", [("i8", "i8"), ("u8", "i8")])
def test_integers_are_exact(xr, rng, candidate, types, transposed):
    ranges = {"i8": (-128, 128), "u8": (0, 256)}
    numpy = {"i8": np.int8, "u8": np.uint8}
    a = rng.integers(*ranges[types[0]], (37, 90)).astype(numpy[types[0]])
    b = rng.integers(*ranges[types[1]], (90, 53)).astype(numpy[types[1]])
    right = xr.from_numpy(np.ascontiguousarray(b.T)).transpose() if transposed else xr.from_numpy(b)
    out = xr.dnn.matmul(xr.from_numpy(a), right)
    assert_close(out.numpy(), a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("types", [("i8", "i8"), ("u8", "i8")])
def test_integers_do_not_depend_on_the_product_before(xr, rng, candidate, types):
    """An earlier product leaves its numbers in the scratch memory that this one gets."""
    numpy = {"i8": np.int8, "u8": np.uint8}
    for m, k, n in ((37, 90, 53), (7, 100, 64), (200, 65, 33), (64, 128, 100)):
        wide = xr.from_numpy(rng.standard_normal((256, 512)), "f32")
        xr.dnn.matmul(wide, wide.transpose())
        a, b = (
            rng.integers(np.iinfo(numpy[t]).min, np.iinfo(numpy[t]).max, shape, numpy[t], True)
            for t, shape in zip(types, [(m, k), (k, n)], strict=True)
        )
        out = xr.dnn.matmul(xr.from_numpy(a), xr.from_numpy(b))
        assert_close(out.numpy(), a.astype(np.int32) @ b.astype(np.int32))


@pytest.mark.parametrize("dtype", ["i32", "i64", "i16"])
def test_other_integers_wrap(xr, rng, dtype):
    numpy = {"i32": np.int32, "i64": np.int64, "i16": np.int16}[dtype]
    info = np.iinfo(numpy)
    a, b = (rng.integers(info.min, info.max, s, numpy) for s in [(9, 17), (17, 21)])
    with np.errstate(over="ignore"):
        expected = a @ b
    assert_close(xr.dnn.matmul(xr.from_numpy(a), xr.from_numpy(b)).numpy(), expected)


POST_OPS = {
    "relu": lambda x: np.maximum(x, 0),
    "gelu_erf": lambda x: 0.5 * x * (1 + np.vectorize(__import__("math").erf)(x / np.sqrt(2))),
    "gelu_tanh": lambda x: 0.5 * x * (1 + np.tanh(np.sqrt(2 / np.pi) * (x + 0.044715 * x**3))),
    "silu": lambda x: x / (1 + np.exp(-x)),
    "tanh": np.tanh,
    "sigmoid": lambda x: 1 / (1 + np.exp(-x)),
    "abs": np.abs,
    "square": np.square,
    "elu": lambda x: np.where(x > 0, x, 0.5 * np.expm1(x)),
    "clip": lambda x: np.clip(x, 0.5, 1.5),
    "linear": lambda x: 0.5 * x + 1.5,
    "hardswish": lambda x: x * np.clip(0.5 * x + 1.5, 0, 1),
}


@pytest.mark.parametrize("kind", POST_OPS)
def test_post_op(xr, rng, candidate, kind):
    a, b = rng.standard_normal((19, 12)), rng.standard_normal((12, 33))
    out = xr.dnn.matmul(
        xr.from_numpy(a, "f32"), xr.from_numpy(b, "f32"), post_ops=[xr.dnn.PostOp(kind, 0.5, 1.5)]
    )
    x = a @ b
    expected = np.where(x > 0, x, 0.5 * x) if kind == "relu" else POST_OPS[kind](x)
    assert_close(
        out.numpy().astype(float), expected, rtol=1e-4, atol=2e-3 if kind == "gelu_erf" else 2e-4
    )


@pytest.mark.parametrize("kind", ["add", "sub", "mul", "div", "max", "min"])
@pytest.mark.parametrize("shape", [(19, 33), (33,), (19, 1), (1, 1)])
def test_binary_post_op(xr, rng, candidate, kind, shape):
    a, b, w = (
        rng.standard_normal((19, 12)),
        rng.standard_normal((12, 33)),
        rng.uniform(0.5, 2, shape),
    )
    op = xr.dnn.PostOp(kind, operand=xr.from_numpy(w, "f32"))
    operands = [xr.from_numpy(v, "f32") for v in (a, b)]
    if candidate == "onednn" and shape == (19, 1):
        # Only oneDNN's reference code takes an operand that differs from row to row.
        with pytest.raises(xr.Unsupported, match="only oneDNN's reference code"):
            xr.dnn.matmul(*operands, post_ops=[op])
        return
    out = xr.dnn.matmul(*operands, post_ops=[op])
    numpy = {
        "add": np.add,
        "sub": np.subtract,
        "mul": np.multiply,
        "div": np.divide,
        "max": np.maximum,
        "min": np.minimum,
    }[kind]
    check(out.numpy(), numpy(a @ b, w), "f32")


@pytest.mark.parametrize("what", ["bias", "post-op"])
@pytest.mark.parametrize("operand", [(1, 1, 24), (3, 1, 1), (1, 20, 1), (1, 1, 1), (3, 20, 24)])
@pytest.mark.parametrize("order", [(0, 1, 2), (1, 0, 2), (0, 2, 1)])
@pytest.mark.parametrize("padding", [0, 8])
@pytest.mark.parametrize("images", [1, 3])
@pytest.mark.parametrize("forced", [pytest.param("", marks=pytest.mark.onednn_matmul), "sycl"])
def test_operand_beside_a_result_of_any_layout(
    xr, rng, forced, images, padding, order, operand, what
):
    """By itself oneDNN would read some of these from wrong places, and from beyond the operand's end."""
    a, b = rng.standard_normal((images, 20, 10)), rng.standard_normal((images, 10, 24))
    w = rng.standard_normal([min(n, images) if d == 0 else n for d, n in enumerate(operand)])
    shape = [images, 20, 24 + padding]
    whole = xr.zeros([shape[d] for d in order]).transpose(*(order.index(d) for d in range(3)))
    out = Array(whole._buffer, "f32", (images, 20, 24), whole.strides, 0, whole.device)
    value = xr.from_numpy(w, "f32")
    with xr.dnn.only_candidate(forced):
        xr.dnn.matmul(
            xr.from_numpy(a, "f32"),
            xr.from_numpy(b, "f32"),
            out,
            bias=value if what == "bias" else None,
            post_ops=[xr.dnn.PostOp("mul", operand=value)] if what == "post-op" else [],
        )
    got = whole.transpose(*order).numpy().transpose(*(order.index(d) for d in range(3)))
    check(got[:, :, :24], a @ b + w if what == "bias" else a @ b * w, "f32")
    assert_close(got[:, :, 24:], np.zeros((images, 20, padding), np.float32))


@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
@pytest.mark.parametrize("bias_shape", [(33,), (1, 33), (19, 33)])
def test_bias_and_chain(xr, rng, candidate, dtype, bias_shape):
    a, b, bias = (
        rng.standard_normal((19, 12)),
        rng.standard_normal((12, 33)),
        rng.standard_normal(bias_shape),
    )
    before = rng.standard_normal((19, 33))
    out = xr.from_numpy(before, dtype)
    ops = [xr.dnn.PostOp("sum", 2.0), xr.dnn.PostOp("relu"), xr.dnn.PostOp("linear", 3.0, -1.0)]
    xr.dnn.matmul(
        xr.from_numpy(a, dtype),
        xr.from_numpy(b, dtype),
        out,
        bias=xr.from_numpy(bias, dtype),
        post_ops=ops,
    )
    x = rounded(a, dtype) @ rounded(b, dtype) + rounded(bias, dtype) + 2 * rounded(before, dtype)
    check(out.numpy(), 3 * np.maximum(x, 0) - 1, dtype)


def test_nothing_to_sum_gives_the_bias(xr):
    bias = np.arange(5, dtype=np.float32)
    out = xr.dnn.matmul(xr.empty((3, 0)), xr.empty((0, 5)), bias=xr.from_numpy(bias))
    assert_close(out.numpy(), np.tile(bias, (3, 1)))


def test_empty_result(xr):
    assert xr.dnn.matmul(xr.empty((0, 4)), xr.empty((4, 5))).shape == (0, 5)


@pytest.mark.parametrize("dtype", ["f32", "bf16"])
def test_writes_only_its_result(xr, rng, candidate, dtype):
    shape = (37, 41)
    guarded = Canary(shape, np.float32 if dtype == "f32" else np.uint16)
    image = xr.from_numpy(
        guarded.image.view(np.float32 if dtype == "f32" else np.uint16),
        dtype if dtype == "f32" else None,
    )
    if dtype == "bf16":
        image.dtype = "bf16"
    out = image.view(shape, (shape[1], 1), guarded.offset // image.itemsize)
    a = xr.from_numpy(rng.standard_normal((37, 20)), dtype)
    xr.dnn.matmul(a, xr.from_numpy(rng.standard_normal((20, 41)), dtype), out)
    image = image.view(image.shape, image.strides)
    image.dtype = "f32" if dtype == "f32" else "u16"
    guarded.take(image.numpy())


def test_repeats_bit_for_bit(xr, rng, candidate):
    a = xr.from_numpy(rng.standard_normal((130, 257)), "f32")
    b = xr.from_numpy(rng.standard_normal((257, 66)), "f32")
    assert_repeatable(lambda: xr.dnn.matmul(a, b, deterministic=True).numpy(), 5)


@pytest.mark.parametrize("forced", [pytest.param("", marks=pytest.mark.onednn_matmul), "sycl"])
@pytest.mark.parametrize("order", list(itertools.permutations(range(3))), ids=str)
@pytest.mark.parametrize("sizes", [(4, 1, 10), (1, 6, 10), (4, 6, 1), (4, 6, 10)], ids=str)
def test_operand_in_another_order(xr, rng, forced, sizes, order):
    """By itself oneDNN would read broadcast ones in row-major order."""
    a, b = rng.standard_normal((4, 6, 8)), rng.standard_normal((4, 8, 10))
    w = rng.standard_normal([sizes[d] for d in order])
    back = tuple(order.index(d) for d in range(3))
    operand = xr.from_numpy(w, "f32").transpose(*back)
    with xr.dnn.only_candidate(forced):
        out = xr.dnn.matmul(
            xr.from_numpy(a, "f32"),
            xr.from_numpy(b, "f32"),
            post_ops=[xr.dnn.PostOp("mul", operand=operand)],
        )
    check(out.numpy(), a @ b * w.transpose(back), "f32")


def test_calls_in_flight_keep_their_own_operands(xr, rng, candidate):
    a = [rng.standard_normal((96, 96)) for _ in range(20)]
    arrays = [xr.from_numpy(x, "f32") for x in a]
    outs = [xr.dnn.matmul(x, y) for x, y in itertools.pairwise(arrays)]
    for out, x, y in zip(outs, a, a[1:], strict=False):
        check(out.numpy(), x @ y, "f32")


def test_cache_counts(xr):
    xr.dnn.clear_cache()
    a, b = xr.zeros((8, 8)), xr.zeros((16, 8))
    for _ in range(3):
        xr.dnn.matmul(a, a)
    xr.dnn.matmul(b, a)
    assert xr.dnn.cache_stats() == (2, 2, 2)


@pytest.mark.parametrize(
    ("left", "right", "out", "message"),
    [
        ((3, 4), (5, 6), (3, 6), "do not fit together"),
        ((3, 4), (4, 6), (3, 7), "do not fit together"),
        ((2, 3, 4), (3, 4, 6), (2, 3, 6), "do not fit together"),
        ((4,), (4, 6), (6,), "two or more dimensions"),
    ],
)
def test_wrong_shapes(xr, left, right, out, message):
    with pytest.raises(xr.UsageError, match=message):
        xr.dnn.matmul(xr.zeros(left), xr.zeros(right), xr.zeros(out))


def test_not_an_array(xr):
    with pytest.raises(xr.UsageError, match="expected an Array"):
        xr.dnn.matmul(xr.zeros((2, 2)), np.zeros((2, 2)), xr.zeros((2, 2)))
    with pytest.raises(xr.UsageError, match="post-op: got"):
        xr.dnn.matmul(xr.zeros((2, 2)), xr.zeros((2, 2)), post_ops=[xr.dnn.PostOp("softsign")])
