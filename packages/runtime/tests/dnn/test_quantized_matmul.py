"""Quantised matmul: int8, int4 and fp8 operands with scales and zero points."""

import numpy as np
import pytest
from dnn_reference import check, fp8_values, pack_int4, rounded
from xpu_testing import assert_close

pytestmark = pytest.mark.usefixtures("device")

# Not every combination is oneDNN's, so the default choice is tested beside the kernel that takes all.
CANDIDATES = ["", "sycl"]
M, K, N = 9, 64, 24


@pytest.fixture(params=CANDIDATES, ids=["default", "sycl"])
def candidate(request, xr):
    with xr.dnn.only_candidate(request.param):
        yield request.param


def expanded(values, shape):
    """Each value repeated for the elements that share it."""
    if values is None:
        return 0.0
    values = np.asarray(values, np.float64)
    if values.ndim == 0:
        return values
    for axis, size in enumerate(shape):
        values = np.repeat(values, size // values.shape[axis], axis)
    return values


def dequantized(numbers, scale, zero):
    return (numbers.astype(np.float64) - expanded(zero, numbers.shape)) * expanded(
        scale, numbers.shape
    )


SCALES = {
    "one": lambda rng: np.float32(0.03),
    "columns": lambda rng: rng.uniform(0.01, 0.1, (1, N)).astype(np.float32),
    "groups": lambda rng: rng.uniform(0.01, 0.1, (K // 32, N)).astype(np.float32),
}


@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("spread", SCALES)
@pytest.mark.parametrize("dtype", ["f32", "bf16", "f16"])
def test_weights_only_int8(xr, rng, candidate, dtype, spread, zero):
    a = rng.standard_normal((M, K))
    w = rng.integers(-128, 128, (K, N)).astype(np.int8)
    scale = SCALES[spread](rng)
    zeros = rng.integers(-5, 5, scale.shape).astype(np.int32) if zero else None
    quantization = xr.dnn.Quantization(
        xr.from_numpy(scale), None if zeros is None else xr.from_numpy(zeros)
    )
    out = xr.dnn.matmul(xr.from_numpy(a, dtype), xr.from_numpy(w), b_quantization=quantization)
    check(out.numpy(), rounded(a, dtype) @ dequantized(w, scale, zeros), dtype)


@pytest.mark.parametrize("dtype", ["u4", "i4"])
@pytest.mark.parametrize("group", [16, 32, 64])
@pytest.mark.parametrize("compute", ["f32", "bf16"])
@pytest.mark.parametrize("zero", [False, True])
def test_weights_only_int4(xr, rng, candidate, dtype, group, compute, zero):
    a = rng.standard_normal((M, K))
    low, high = (0, 16) if dtype == "u4" else (-8, 8)
    w = rng.integers(low, high, (K, N))
    scale = rng.uniform(0.01, 0.1, (K // group, N)).astype(np.float32)
    zeros = rng.integers(0, 8, scale.shape).astype(np.uint8) if zero else None
    packed = xr.dnn.PackedArray(xr.from_numpy(pack_int4(w)), dtype, (K, N))
    quantization = xr.dnn.Quantization(
        xr.from_numpy(scale), None if zeros is None else xr.from_numpy(zeros)
    )
    out = xr.dnn.matmul(xr.from_numpy(a, compute), packed, b_quantization=quantization)
    check(out.numpy(), rounded(a, compute) @ dequantized(w, scale, zeros), compute)


@pytest.mark.parametrize("rows", [1, 3, 70])
@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u4", "f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("length", [64, 76])
@pytest.mark.parametrize("groups", [0, 1, 2])
def test_dense_columns_of_low_bit_weights(xr, rng, rows, dtype, length, groups):
    """What models have; few rows and many are done in ways of their own on CPUs."""
    columns = 21
    a, bias = rng.standard_normal((rows, length)), rng.standard_normal(columns).astype(np.float32)
    options = {"bias": xr.from_numpy(bias), "post_ops": [xr.dnn.PostOp("relu")]}
    if dtype.startswith("f8"):
        stored = rng.integers(0, 0x70, (columns, length)).astype(np.uint8)
        w, weights = fp8_values(stored, dtype), xr.from_numpy(stored, dtype).transpose()
    else:
        low, high = {"i8": (-128, 128), "u8": (0, 256), "i4": (-8, 8), "u4": (0, 16)}[dtype]
        w = rng.integers(low, high, (columns, length))
        if dtype.endswith("4"):
            packed = xr.from_numpy(pack_int4(w))
            weights = xr.dnn.PackedArray(packed, dtype, (length, columns), (1, length))
        else:
            weights = xr.from_numpy(w.astype({"i8": np.int8, "u8": np.uint8}[dtype])).transpose()
    scale = zeros = None
    if groups:
        scale = rng.uniform(0.01, 0.1, (groups, columns)).astype(np.float32)
        zeros = rng.integers(0, 8, scale.shape).astype(np.int8)
        options["b_quantization"] = xr.dnn.Quantization(xr.from_numpy(scale), xr.from_numpy(zeros))
    out = xr.dnn.matmul(xr.from_numpy(a, "f32"), weights, dtype="f32", **options)
    real = dequantized(w.T, scale, zeros) if groups else w.T.astype(np.float64)
    check(out.numpy(), np.maximum(a.astype(np.float32).astype(float) @ real + bias, 0), "f32")


def test_int4_weights_transposed(xr, rng, candidate):
    a, w = rng.standard_normal((M, K)), rng.integers(-8, 8, (N, K))
    scale = rng.uniform(0.01, 0.1, (N, K // 32)).astype(np.float32)
    packed = xr.dnn.PackedArray(xr.from_numpy(pack_int4(w)), "i4", (K, N), (1, K))
    quantization = xr.dnn.Quantization(xr.from_numpy(scale).transpose())
    out = xr.dnn.matmul(xr.from_numpy(a, "f32"), packed, b_quantization=quantization)
    check(out.numpy(), a.astype(np.float32).astype(float) @ dequantized(w.T, scale.T, None), "f32")


@pytest.mark.parametrize("rows", [False, True])
@pytest.mark.parametrize("zero", [False, True])
@pytest.mark.parametrize("out", ["f32", "bf16"])
def test_dynamic_int8(xr, rng, candidate, rows, zero, out):
    """Activations with a scale for each row, weights with one for each column."""
    a = rng.integers(0, 256, (M, K)).astype(np.uint8)
    w = rng.integers(-128, 128, (K, N)).astype(np.int8)
    a_scale = rng.uniform(0.01, 0.05, (M, 1) if rows else ()).astype(np.float32)
    a_zero = np.asarray(7, np.int32) if zero else None
    w_scale = rng.uniform(0.01, 0.05, (1, N)).astype(np.float32)
    result = xr.dnn.matmul(
        xr.from_numpy(a),
        xr.from_numpy(w),
        dtype=out,
        a_quantization=xr.dnn.Quantization(
            xr.from_numpy(a_scale), None if a_zero is None else xr.from_numpy(a_zero)
        ),
        b_quantization=xr.dnn.Quantization(xr.from_numpy(w_scale)),
    )
    check(result.numpy(), dequantized(a, a_scale, a_zero) @ dequantized(w, w_scale, None), out)


@pytest.mark.parametrize("dtype", ["i8", "u8"])
def test_static_int8(xr, rng, candidate, dtype):
    """Everything quantised, as in a quantised model: bias, relu, and the result stored as int8."""
    numpy = {"i8": np.int8, "u8": np.uint8}[dtype]
    a = rng.integers(0, 256, (M, K)).astype(np.uint8)
    w = rng.integers(-128, 128, (K, N)).astype(np.int8)
    bias = rng.standard_normal(N).astype(np.float32)
    w_scale = rng.uniform(0.01, 0.02, (1, N)).astype(np.float32)
    a_scale, a_zero, out_scale, out_zero = (
        np.float32(0.02),
        np.int32(120),
        np.float32(0.13),
        np.int32(5),
    )
    q = xr.dnn.Quantization
    out = xr.dnn.matmul(
        xr.from_numpy(a),
        xr.from_numpy(w),
        dtype=dtype,
        bias=xr.from_numpy(bias),
        post_ops=[xr.dnn.PostOp("relu")],
        a_quantization=q(xr.from_numpy(a_scale), xr.from_numpy(a_zero)),
        b_quantization=q(xr.from_numpy(w_scale)),
        out_quantization=q(xr.from_numpy(out_scale), xr.from_numpy(out_zero)),
    )
    real = np.maximum(dequantized(a, a_scale, a_zero) @ dequantized(w, w_scale, None) + bias, 0)
    info = np.iinfo(numpy)
    expected = np.clip(np.rint(real / out_scale) + out_zero, info.min, info.max).astype(int)
    assert_close(out.numpy().astype(int), expected, atol=1)  # a tie may fall on either side in f32


@pytest.mark.parametrize("out", ["f32", "bf16"])
@pytest.mark.parametrize(
    "types", [("f8e4m3", "f8e4m3"), ("f8e5m2", "f8e5m2"), ("f8e5m2", "f8e4m3")]
)
def test_fp8_rows_and_columns(xr, rng, candidate, types, out):
    a, b = (
        rng.integers(0, 0x60, (M, K)).astype(np.uint8),
        rng.integers(0x80, 0xE0, (K, N)).astype(np.uint8),
    )
    a_scale, b_scale = (
        rng.uniform(0.5, 2, (M, 1)).astype(np.float32),
        rng.uniform(0.5, 2, (1, N)).astype(np.float32),
    )
    result = xr.dnn.matmul(
        xr.from_numpy(a, types[0]),
        xr.from_numpy(b, types[1]),
        dtype=out,
        a_quantization=xr.dnn.Quantization(xr.from_numpy(a_scale)),
        b_quantization=xr.dnn.Quantization(xr.from_numpy(b_scale)),
    )
    check(
        result.numpy(),
        (fp8_values(a, types[0]) * a_scale) @ (fp8_values(b, types[1]) * b_scale),
        out,
    )


def test_batched_weights_with_their_own_scales(xr, rng, candidate):
    a, w = rng.standard_normal((3, M, K)), rng.integers(-128, 128, (3, K, N)).astype(np.int8)
    scale = rng.uniform(0.01, 0.1, (3, 1, N)).astype(np.float32)
    quantization = xr.dnn.Quantization(xr.from_numpy(scale))
    out = xr.dnn.matmul(xr.from_numpy(a, "f32"), xr.from_numpy(w), b_quantization=quantization)
    check(out.numpy(), a @ dequantized(w, scale, None), "f32")


def test_scale_that_does_not_divide(xr):
    quantization = xr.dnn.Quantization(xr.zeros((3, N)))
    with pytest.raises(xr.UsageError, match="does not divide"):
        xr.dnn.matmul(xr.zeros((M, K)), xr.zeros((K, N), "i8"), b_quantization=quantization)


def test_packed_array_must_fit(xr):
    with pytest.raises(xr.UsageError, match="are too few"):
        xr.dnn.PackedArray(xr.zeros(10, "u8"), "i4", (3, 7))
