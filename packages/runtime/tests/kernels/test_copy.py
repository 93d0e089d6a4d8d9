"""Copies and fills: any strides, any two dtypes, and nothing written beside the output."""

import numpy as np
import pytest
from layouts import FLOATS, INTEGERS, LAYOUTS, NUMPY, Packed, Placed
from xpu_testing import assert_close, assert_repeatable

pytestmark = pytest.mark.usefixtures("device")

SHAPES = [
    (),
    (0,),
    (1,),
    (5,),
    (33,),
    (5000,),
    (3, 0, 4),
    (7, 65),
    (65, 7),
    (130, 67),
    (3, 50, 40),
    (2, 3, 4, 5, 2, 3),
]


def some(rng, shape, dtype):
    """Values that every dtype can hold and that tell elements apart."""
    kind = NUMPY[dtype].kind
    if dtype == "bool":
        return rng.integers(0, 2, shape).astype(bool)
    if kind == "c":
        return (rng.integers(-7, 8, shape) + 1j * rng.integers(-7, 8, shape)).astype(NUMPY[dtype])
    low = 0 if kind == "u" else -7
    return rng.integers(low, 8, shape).astype(NUMPY[dtype])


@pytest.mark.parametrize("shape", SHAPES, ids=str)
@pytest.mark.parametrize("source", LAYOUTS)
@pytest.mark.parametrize("target", LAYOUTS)
def test_layouts(xr, rng, shape, source, target):
    src = Placed(shape, "i32", source, rng.integers(-(2**31), 2**31, shape))
    dst = Placed(shape, "i32", target)
    xr.kernels.copy(dst.array, src.array)
    assert_close(dst.result(), src.host.copy())


@pytest.mark.parametrize("dtype", ["u8", "bf16"])
@pytest.mark.parametrize("channels", [2, 3, 4, 5])
@pytest.mark.parametrize(("images", "pixels"), [(1, 8), (3, 400), (2, 70)], ids=str)
def test_pixels_and_planes(xr, rng, dtype, channels, images, pixels):
    values = some(rng, (images, pixels, channels), dtype)
    planes = Placed((images, channels, pixels), dtype)
    as_planes = (channels * pixels, 1, pixels)
    source = Placed((images, pixels, channels), dtype, values=values)
    xr.kernels.copy(planes.array.view((images, pixels, channels), as_planes), source.array)
    assert_close(planes.result(), values.transpose(0, 2, 1).copy())
    back = Placed((images, pixels, channels), dtype)
    xr.kernels.copy(back.array, planes.array.view((images, pixels, channels), as_planes))
    assert_close(back.result(), values)


@pytest.mark.parametrize("dtype", NUMPY)
def test_each_dtype_strided(xr, rng, dtype):
    src = Placed((33, 70), dtype, "transposed", some(rng, (33, 70), dtype))
    dst = Placed((33, 70), dtype, "padded")
    xr.kernels.copy(dst.array, src.array)
    bits = [np.frombuffer(values.tobytes(), np.uint8) for values in (dst.result(), src.host.copy())]
    np.testing.assert_array_equal(*bits)


# Each dtype from and to f32 and three others; the device library's tests have every pair.
CONVERSIONS = [
    (source, target)
    for i, source in enumerate(NUMPY)
    for j, target in enumerate(NUMPY)
    if "f32" in (source, target) or (j - i) % len(NUMPY) in (1, 4, 9)
]


@pytest.mark.parametrize(("source", "target"), CONVERSIONS)
def test_conversions(xr, rng, source, target):
    src = Placed((83,), source, "contiguous", some(rng, (83,), source))
    dst = Placed((83,), target)
    xr.kernels.copy(dst.array, src.array)
    values = src.host.copy()
    if NUMPY[source].kind == "c" and NUMPY[target].kind != "c" and target != "bool":
        values = values.real
    if target == "bool":
        values = values != 0
    expected = values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)
    if NUMPY[target].kind in "iu":
        expected = expected.astype(
            np.int64
        )  # negative values wrap, but saturate coming from a float
        if NUMPY[target].kind == "u" and NUMPY[source].kind not in "iub" and target != "u8":
            expected = np.maximum(expected, 0)
    assert_close(dst.result(), expected.astype(NUMPY[target]))


@pytest.mark.values
@pytest.mark.parametrize("target", INTEGERS)
def test_floats_out_of_range_saturate(xr, target):
    values = np.array([np.inf, -np.inf, np.nan, 1e30, -1e30, 1.9, -1.9], np.float32)
    src, dst = Placed((7,), "f32", values=values), Placed((7,), target)
    xr.kernels.copy(dst.array, src.array)
    limits = np.iinfo(NUMPY[target])
    got = dst.result()
    assert got[5] == 1
    if target != "u8":  # wraps through i64, as PyTorch defines
        assert list(got[:5]) == [limits.max, limits.min, 0, limits.max, limits.min]


@pytest.mark.parametrize("dtype", FLOATS)
def test_rounding_is_to_nearest_even(xr, rng, dtype):
    values = rng.standard_normal(4097).astype(np.float64)
    src, dst = Placed((4097,), "f32", values=values), Placed((4097,), dtype)
    xr.kernels.copy(dst.array, src.array)
    assert_close(dst.result(), src.host.astype(NUMPY[dtype]))


@pytest.mark.parametrize("shape", [(1,), (7, 1), (1, 70), (70,), ()], ids=str)
def test_the_source_broadcasts(xr, rng, shape):
    src, dst = Placed(shape, "f32", values=rng.random(shape)), Placed((7, 70), "f32", "padded")
    xr.kernels.copy(dst.array, src.array)
    assert_close(dst.result(), np.broadcast_to(src.host, (7, 70)))


@pytest.mark.parametrize("target", ["i8", "u8", "f32", "bf16", "bool", "i64"])
@pytest.mark.parametrize("packed", ["i4", "u4"])
@pytest.mark.parametrize("count", [1, 2, 255, 256])
def test_packed_integers(xr, rng, packed, target, count):
    stored = rng.integers(0, 256, (count + 1) // 2).astype(np.uint8)
    nibbles = np.stack([stored & 15, stored >> 4], 1).reshape(-1)[:count].astype(np.int64)
    if packed == "i4":
        nibbles = np.where(nibbles > 7, nibbles - 16, nibbles)
    dst = Placed((count,), target)
    xr.kernels.copy(dst.array, Packed(xr.from_numpy(stored), packed, count))
    assert_close(dst.result(), nibbles.astype(NUMPY[target]))
    if target == "bool":
        return
    back = xr.zeros(stored.shape, "u8")
    xr.kernels.copy(Packed(back, packed, count), dst.array)
    if count % 2:
        stored[-1] &= 15
    assert_close(back.numpy(), stored)


@pytest.mark.parametrize("dtype", NUMPY)
@pytest.mark.parametrize("layout", ["contiguous", "transposed", "every second"])
@pytest.mark.parametrize("value", [0, 1, 3.5, True])
def test_fill(xr, dtype, layout, value):
    dst = Placed((31, 20), dtype, layout)
    xr.kernels.fill(dst.array, value)
    expected = np.full((31, 20), bool(value) if dtype == "bool" else value).astype(NUMPY[dtype])
    assert_close(dst.result(), expected)


@pytest.mark.values
def test_fill_keeps_large_integers_and_signed_zero(xr):
    for dtype, value in (("i64", 2**53 + 1), ("i64", -(2**63)), ("u64", 2**64 - 1)):
        dst = Placed((3,), dtype)
        xr.kernels.fill(dst.array, value)
        assert list(dst.result()) == [value] * 3
    for dtype in FLOATS:
        dst = Placed((3,), dtype)
        xr.kernels.fill(dst.array, -0.0)
        assert np.signbit(dst.result().astype(np.float64)).all()


def test_fill_complex(xr):
    for dtype in ("c64", "c128"):
        dst = Placed((3, 5), dtype, "padded")
        xr.kernels.fill(dst.array, 1.5 - 2j)
        assert_close(dst.result(), np.full((3, 5), 1.5 - 2j, NUMPY[dtype]))


def test_offsets_beyond_31_bits(xr):
    """A view over 2 GiB of which three elements are touched."""
    far = xr.empty((2**31 + 64,), "u8").view((3, 5), (2**30 + 7, 1))
    values = np.arange(15, dtype=np.uint8).reshape(3, 5)
    back = Placed((3, 5), "u8")
    xr.kernels.copy(far, xr.from_numpy(values))
    xr.kernels.copy(back.array, far)
    assert_close(back.result(), values)
    wide = Placed((3, 5), "f32")
    xr.kernels.copy(wide.array, far)
    assert_close(wide.result(), values.astype(np.float32))


def test_a_transpose_repeats_bit_for_bit(xr, rng):
    src = Placed((300, 500), "f16", "transposed", rng.random((300, 500)))

    def run():
        dst = Placed((300, 500), "bf16")
        xr.kernels.copy(dst.array, src.array)
        return dst.result()

    assert_repeatable(run)


def test_bad_calls_say_what_is_wrong(xr):
    a = xr.zeros((4, 5))
    with pytest.raises(xr.UsageError, match=r"does not broadcast to f32\[4,5\]"):
        xr.kernels.copy(a, xr.zeros((4, 6)))
    with pytest.raises(xr.UsageError, match=r"f32\[2,4,5\].*does not broadcast"):
        xr.kernels.copy(a, xr.zeros((2, 4, 5)))
    with pytest.raises(xr.UsageError, match="elements overlap in dimension 0"):
        xr.kernels.copy(a.view((4, 5), (0, 1)), xr.zeros((4, 5)))
    with pytest.raises(xr.UsageError, match="got 65 dimensions, expected 0 to 64"):
        xr.kernels.fill(a.view((1,) * 65, (1,) * 65), 1)
    with pytest.raises(xr.UsageError, match="expected bool, int, float or complex"):
        xr.kernels.fill(a, "one")
