"""Products by low-bit weights whose columns are dense: few rows, many rows, and the weights as floats."""

import numpy as np
import pytest
from dnn_reference import check, fp8_values, pack_int4

pytestmark = pytest.mark.usefixtures("device")

COLUMNS = 21
E2M1 = np.array([0, 0.5, 1, 1.5, 2, 3, 4, 6, -0.0, -0.5, -1, -1.5, -2, -3, -4, -6])
RANGES = {"i8": (-128, 128), "u8": (0, 256), "i4": (-8, 8), "u4": (0, 16), "f4": (0, 16)}


def weights_of(xr, rng, dtype, length):
    """Return numbers [COLUMNS, length] as float64, and the operand [length, COLUMNS] that holds them."""
    if dtype.startswith("f8"):
        stored = rng.integers(0, 0x70, (COLUMNS, length)).astype(np.uint8)
        return fp8_values(stored, dtype), xr.from_numpy(stored, dtype).transpose()
    numbers = rng.integers(*RANGES[dtype], (COLUMNS, length))
    if dtype.endswith("8"):
        typed = numbers.astype(np.int8 if dtype == "i8" else np.uint8)
        return numbers.astype(float), xr.from_numpy(typed).transpose()
    packed = xr.from_numpy(pack_int4(numbers))
    operand = xr.dnn.PackedArray(packed, dtype, (length, COLUMNS), (1, length))
    return E2M1[numbers] if dtype == "f4" else numbers.astype(float), operand


def meaning(xr, rng, groups, with_zero, with_offset, scale_dtype="f32"):
    """Return the quantization of weights, and a function of their numbers that applies it."""
    shape = (COLUMNS, groups)
    if scale_dtype == "f8e8m0":
        stored = rng.integers(120, 130, shape).astype(np.uint8)
        scale, given = np.exp2(stored.astype(float) - 127), xr.from_numpy(stored, "f8e8m0")
    else:
        scale = rng.uniform(0.01, 0.1, shape).astype(np.float32)
        given = xr.from_numpy(scale, scale_dtype)
        scale = given.numpy().astype(float)
    zero = rng.integers(-5, 9, shape).astype(np.int8)
    offset = rng.standard_normal(shape).astype(np.float32)
    quantization = xr.dnn.Quantization(
        given.transpose(),
        xr.from_numpy(zero).transpose() if with_zero else None,
        xr.from_numpy(offset).transpose() if with_offset else None,
    )

    def apply(numbers):
        spread = [np.repeat(x, numbers.shape[1] // groups, 1) for x in (scale, zero, offset)]
        return spread[0] * (numbers - with_zero * spread[1]) + with_offset * spread[2]

    return quantization, apply


@pytest.mark.parametrize("with_offset", [False, True])
@pytest.mark.parametrize("with_zero", [False, True])
@pytest.mark.parametrize(
    ("length", "groups"), [(256, 1), (256, 8), (512, 2), (320, 5), (328, 1), (76, 2)]
)
@pytest.mark.parametrize("dtype", ["i8", "u8", "i4", "u4", "f4", "f8e4m3", "f8e5m2"])
def test_meanings(xr, rng, dtype, length, groups, with_zero, with_offset):
    numbers, weights = weights_of(xr, rng, dtype, length)
    quantization, apply = meaning(xr, rng, groups, with_zero, with_offset)
    real = apply(numbers)
    for rows in (1, 5, 40):
        a = rng.standard_normal((rows, length)).astype(np.float32)
        out = xr.dnn.matmul(xr.from_numpy(a), weights, b_quantization=quantization)
        check(out.numpy(), a.astype(float) @ real.T, "f32")
    floats = xr.empty((COLUMNS, length), "f32")
    xr.dnn.reorder(weights, floats.transpose(), src_quantization=quantization)
    check(floats.numpy(), real, "f32")


@pytest.mark.parametrize("rows", [1, 2, 3, 4, 6, 16, 17, 64])
@pytest.mark.parametrize("group", [16, 32, 64, 128, 256])
@pytest.mark.parametrize("dtype", ["u4", "f4", "i8", "f8e4m3"])
@pytest.mark.parametrize("compute", ["bf16", "f16"])
def test_groups_of_rows(xr, rng, rows, group, dtype, compute):
    length = 768
    numbers, weights = weights_of(xr, rng, dtype, length)
    scales = "f8e8m0" if dtype == "f4" else "bf16"
    quantization, apply = meaning(xr, rng, length // group, dtype == "u4", False, scales)
    a = xr.from_numpy(rng.standard_normal((rows, length)), compute)
    bias = rng.standard_normal(COLUMNS).astype(np.float32)
    options = {"bias": xr.from_numpy(bias), "post_ops": [xr.dnn.PostOp("relu")]}
    out = xr.dnn.matmul(a, weights, b_quantization=quantization, dtype="f32", **options)
    expected = np.maximum(a.numpy().astype(float) @ apply(numbers).T + bias, 0)
    # Many rows are multiplied by weights that are rounded to the type of a.
    check(out.numpy(), expected, compute if rows > 16 else "f32")


@pytest.mark.parametrize("rows", [1, 16, 60])
@pytest.mark.parametrize(("block", "scales"), [(32, "f8e8m0"), (128, "f32")])
@pytest.mark.parametrize("out", ["f32", "bf16"])
def test_blocks_of_both_operands(xr, rng, rows, block, scales, out):
    length = 384
    numbers, weights = weights_of(xr, rng, "f8e4m3", length)
    b, apply = meaning(xr, rng, length // block, False, False, scales)
    stored = rng.integers(0, 0x70, (rows, length)).astype(np.uint8)
    if scales == "f8e8m0":
        powers = rng.integers(120, 130, (rows, length // block)).astype(np.uint8)
        scale_a, of_a = np.exp2(powers.astype(float) - 127), xr.from_numpy(powers, scales)
    else:
        scale_a = rng.uniform(0.01, 0.1, (rows, length // block)).astype(np.float32)
        of_a = xr.from_numpy(scale_a)
    result = xr.dnn.matmul(
        xr.from_numpy(stored, "f8e4m3"),
        weights,
        a_quantization=xr.dnn.Quantization(of_a),
        b_quantization=b,
        dtype=out,
    )
    a = fp8_values(stored, "f8e4m3") * np.repeat(scale_a, block, 1)
    check(result.numpy(), a @ apply(numbers).T, out)


@pytest.mark.values
def test_special_values_stay(xr, rng):
    """A weight that is infinite or NaN makes its column so, and no other; also at the end of k."""
    length = 100
    stored = rng.integers(0, 0x70, (COLUMNS, length)).astype(np.uint8)
    stored[3, length - 1], stored[5, 0], stored[7, 50] = 0x7C, 0x7F, 0xFC  # inf, NaN, -inf of e5m2
    a = np.abs(rng.standard_normal((2, length))).astype(np.float32)
    weights = xr.from_numpy(stored, "f8e5m2").transpose()
    got = xr.dnn.matmul(xr.from_numpy(a), weights).numpy()
    assert np.all(got[:, 3] == np.inf)
    assert np.all(np.isnan(got[:, 5]))
    assert np.all(got[:, 7] == -np.inf)
    assert np.isfinite(np.delete(got, [3, 5, 7], 1)).all()


@pytest.mark.values
def test_special_values_of_a_row_stay_in_it(xr, rng):
    """Of a row with an infinity, a NaN, or zeros alone, beside usual rows; also rows of other strides."""
    stored = rng.integers(0x08, 0x70, (COLUMNS, 256)).astype(np.uint8)  # no zeros
    weights = xr.from_numpy(stored, "f8e4m3").transpose()
    a = rng.uniform(1, 2, (256, 5)).astype(np.float32)
    a[3, 1], a[200, 2], a[:, 3] = np.inf, np.nan, 0
    a = xr.from_numpy(a, "bf16")
    got = xr.dnn.matmul(a.transpose(), weights, dtype="f32").numpy()
    assert np.all(got[1] == np.inf)
    assert np.all(np.isnan(got[2]))
    assert np.all(got[3] == 0)
    expected = a.numpy()[:, [0, 4]].T.astype(float) @ fp8_values(stored, "f8e4m3").T
    np.testing.assert_allclose(got[[0, 4]], expected, rtol=1e-4)


@pytest.mark.values
@pytest.mark.parametrize("length", [64, 1000, 1023, 1024])
@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2"])
def test_few_rows_have_the_range_of_many(xr, rng, dtype, length):
    """Rows from bf16's smallest to its largest numbers, and one with both."""
    stored = rng.integers(0, 0x70, (2 * COLUMNS, length)).astype(np.uint8)
    stored[COLUMNS:, ::2] = 0  # the small numbers of the last row are the sum
    weights = xr.from_numpy(stored, dtype).transpose()
    powers = np.array([-133, -126, -100, -80, -70, -30, 0, 60, 86, 100])
    a = rng.uniform(1, 2, (len(powers) + 2, length))
    a[:-2] *= np.exp2(powers.astype(float))[:, None]
    a[-1, ::2] *= 2.0**60
    a[-1, 1::2] *= 2.0**-60
    a = xr.from_numpy(a.astype(np.float32), "bf16")
    expected = a.numpy().astype(float) @ fp8_values(stored, dtype).T
    got = xr.dnn.matmul(a, weights, dtype="f32").numpy()
    tiny = np.finfo(np.float32).smallest_subnormal * length
    np.testing.assert_allclose(got, expected.astype(np.float32), rtol=1e-4, atol=tiny)


def test_only_weights_have_offsets(xr, rng):
    a = xr.from_numpy(rng.standard_normal((2, 64)).astype(np.float32))
    offset = xr.dnn.Quantization(offset=xr.from_numpy(np.float32(1)))
    with pytest.raises(xr.UsageError, match="only b can have an offset"):
        xr.dnn.matmul(a, a.transpose(), a_quantization=offset)
