"""Conversions between every pair of scalar types, exhaustively where the source is narrow."""

from __future__ import annotations

import ml_dtypes
import numpy as np
import pytest
from device_functions import HOST, Kernels, dtypes, every_bit_pattern, sample

pytestmark = pytest.mark.values

NARROW = ("f16", "bf16", "f8e4m3", "f8e5m2")
INTEGERS = ("i8", "i16", "i32", "i64", "u8", "u16", "u32", "u64")
LARGEST = {"f8e4m3": 448.0, "f8e5m2": 57344.0}


def convert(xr, values, source, targets, function="to"):
    """The values as each of the target types."""
    expressions = {t: (f"xpu::{function}<{_c(t)}>(x)", 1, t) for t in targets}
    kernels = Kernels(xr, [], expressions, source)
    return {t: kernels(t, values) for t in targets}


def _c(dtype):
    from device_functions import C_TYPES

    return C_TYPES[dtype]


def assert_same(got, expected, where):
    """Equal bits, except that any NaN is any NaN."""
    wide = got.astype(np.float64), expected.astype(np.float64)
    nan = np.isnan(wide[0]) & np.isnan(wide[1])
    bits = f"u{got.dtype.itemsize}"
    wrong = np.flatnonzero((got.view(bits) != expected.view(bits)) & ~nan)
    assert wrong.size == 0, (
        f"{where}: element {wrong[:5]}: got {got[wrong[:5]]}, expected {expected[wrong[:5]]}"
    )


def halfway(dtype):
    """All finite values of a narrow type, the points half way between neighbours, and their neighbours in f32."""  # noqa: E501
    values = np.sort(every_bit_pattern(dtype).astype(np.float32))
    values = values[np.isfinite(values)]
    middle = (values[:-1] + values[1:]) / 2
    points = np.concatenate(
        [
            values,
            middle,
            [LARGEST.get(dtype, 1.0) * f for f in (1, 1.03, 1.0357, 1.04, 1.07, 1.1, 2)],
        ]
    )
    points = points.astype(np.float32)
    up, down = np.nextafter(points, np.float32(np.inf)), np.nextafter(points, np.float32(-np.inf))
    return np.concatenate([points, up, down, [np.inf, -np.inf, np.nan]]).astype(np.float32)


@pytest.mark.parametrize("source", NARROW)
def test_narrow_to_float(xr, source):
    """Every value of the narrow types as f32."""
    values = every_bit_pattern(source)
    with np.errstate(invalid="ignore"):
        expected = values.astype(np.float32)
    assert_same(convert(xr, values, source, ["f32"])["f32"], expected, source)


@pytest.mark.parametrize("target", NARROW)
def test_float_to_narrow(xr, target):
    """Round to nearest even at every boundary there is, and for random bits."""
    values = np.concatenate([halfway(target), sample("f32", 1 << 16)])
    with np.errstate(all="ignore"):
        expected = values.astype(HOST[target])
    assert_same(convert(xr, values, "f32", [target])[target], expected, target)


@pytest.mark.parametrize("source", ["f16", "bf16"])
@pytest.mark.parametrize("target", ["f8e4m3", "f8e5m2"])
def test_sixteen_bits_to_eight(xr, source, target):
    """All 65,536 values; overflow is NaN in e4m3fn, infinity in e5m2."""
    values = every_bit_pattern(source)
    with np.errstate(all="ignore"):
        expected = values.astype(np.float32).astype(HOST[target])
    assert_same(convert(xr, values, source, [target])[target], expected, f"{source} to {target}")


@pytest.mark.parametrize("target", ["f8e4m3", "f8e5m2"])
def test_saturating(xr, target):
    """to_sat gives the largest finite value in place of overflow and of infinity."""
    values = np.concatenate([halfway(target), sample("f32", 1 << 14)])
    with np.errstate(all="ignore"):
        clipped = np.where(
            np.isnan(values), values, np.clip(values, -LARGEST[target], LARGEST[target])
        )
        expected = clipped.astype(HOST[target])
    assert_same(convert(xr, values, "f32", [target], "to_sat")[target], expected, target)


def saturated(values, target):
    """Truncated, clipped to the integer's range, NaN as 0, by Python's integers."""
    info = np.iinfo(HOST[target])
    low, high = int(info.min), int(info.max)
    clip = lambda v: 0 if np.isnan(v) else high if v >= high else low if v <= low else int(v)  # noqa: E731
    return np.array([clip(v) for v in values.astype(np.float64).tolist()], HOST[target])


@pytest.mark.parametrize("source", ["f16", "bf16", "f32", "f64"])
def test_float_to_integer(xr, source):
    """Truncates and saturates; to<u8> alone wraps, as PyTorch's does."""
    if source not in dtypes(xr):
        pytest.skip("the device has no fp64")
    wide = sample("f64", 1 << 12)
    edges = [2.0**k + d for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, -0.5, 0, 0.5)]
    wide = np.concatenate([wide, edges, [-e for e in edges]])
    with np.errstate(all="ignore"):
        values = wide.astype(HOST[source])
    for function in ("to", "to_sat"):
        got = convert(xr, values, source, INTEGERS, function)
        for target in INTEGERS:
            if function == "to" and target == "u8":
                expected = saturated(values, "i64").astype(np.uint8)
            else:
                expected = saturated(values, target)
            np.testing.assert_array_equal(got[target], expected, f"{function} {source} to {target}")


def test_integer_to_integer_and_bool(xr):
    """Wraps; anything but zero is true."""
    values = np.array([0, 1, -1, 127, 128, -129, 2**31, -(2**31), 2**63 - 1, -(2**63)], np.int64)
    got = convert(xr, values, "i64", [*INTEGERS, "bool"])
    for target in INTEGERS:
        np.testing.assert_array_equal(got[target], values.astype(HOST[target]), target)
    np.testing.assert_array_equal(got["bool"], values != 0)
    floats = np.array([0.0, -0.0, 0.25, np.nan, np.inf], np.float32)
    np.testing.assert_array_equal(convert(xr, floats, "f32", ["bool"])["bool"], floats != 0)


def test_integer_to_float(xr):
    """Rounded to nearest even."""
    values = np.array(
        [0, 1, -1, 2**24 + 1, 2**24 + 3, 2**53 + 1, 65519, 65520, 257, 259, -(2**63)], np.int64
    )
    got = convert(xr, values, "i64", ["f32", "f16", "bf16"])
    with np.errstate(over="ignore"):
        np.testing.assert_array_equal(got["f32"], values.astype(np.float32))
        np.testing.assert_array_equal(got["f16"], values.astype(np.float32).astype(np.float16))
    assert_same(got["bf16"], values.astype(np.float32).astype(ml_dtypes.bfloat16), "bf16")


def test_int4(xr):
    """Low nibble first, signed and unsigned, and packing undoes unpacking."""
    packed = every_bit_pattern("u8")
    expressions = {
        "low": ("xpu::int4_low(x)", 1, "i32"),
        "high": ("xpu::int4_high(x)", 1, "i32"),
        "ulow": ("xpu::uint4_low(x)", 1, "i32"),
        "uhigh": ("xpu::uint4_high(x)", 1, "i32"),
        "pack": ("xpu::int4_pack(xpu::int4_low(x), xpu::int4_high(x))", 1, "u8"),
    }
    kernels = Kernels(xr, [], expressions, "u8")
    sign = lambda n: np.where(n > 7, n - 16, n)  # noqa: E731
    low, high = (packed & 15).astype(int), (packed >> 4).astype(int)
    np.testing.assert_array_equal(kernels("low", packed), sign(low))
    np.testing.assert_array_equal(kernels("high", packed), sign(high))
    np.testing.assert_array_equal(kernels("ulow", packed), low)
    np.testing.assert_array_equal(kernels("uhigh", packed), high)
    np.testing.assert_array_equal(kernels("pack", packed), packed)


@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_nextafter(xr, dtype):
    """The neighbour in the type itself, in both directions from every kind of value."""
    values = every_bit_pattern("f16").astype(np.float32)
    with np.errstate(all="ignore"):
        x = values[np.isfinite(values)].astype(HOST[dtype])
        kernels = Kernels(xr, ["math"], {"next": ("xpu::nextafter(x, y)", 2, dtype)}, dtype)
        for towards in (np.inf, -np.inf, 0.0):
            y = np.full(x.shape, towards, HOST[dtype])
            expected = ml_dtypes_nextafter(x, y) if dtype == "bf16" else np.nextafter(x, y)
            assert_same(kernels("next", x, y), expected, f"towards {towards}")


def ml_dtypes_nextafter(x, y):
    """numpy dispatches to the extension type's own loop."""
    return np.nextafter(x, y)
