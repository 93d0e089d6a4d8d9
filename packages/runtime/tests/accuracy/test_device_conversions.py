"""Conversions between every pair of scalar types: all values of 8- and 16-bit ones, f32 at every boundary."""

from __future__ import annotations

import numpy as np
import pytest
from device_functions import C_TYPES, HOST, INTEGERS, Kernels, dtypes, every_bit_pattern, sample

NARROW = ("f16", "bf16", "f8e4m3", "f8e5m2")
LARGEST = {"f16": 65504.0, "bf16": 3.3895314e38, "f8e4m3": 448.0, "f8e5m2": 57344.0}


def convert(xr, values, source, targets, function="to"):
    """The values as each of the target types; f64 in a module of its own, which not every GPU can build."""
    result = {}
    for group in ([t for t in targets if t != "f64"], [t for t in targets if t == "f64"]):
        expressions = {t: (f"xpu::{function}<{C_TYPES[t]}>(x)", 1, t) for t in group}
        kernels = Kernels(xr, [], expressions, source) if group else None
        result |= {t: kernels(t, values) for t in group}
    return result


def as_type(values, dtype):
    """Convert with numpy, to 8 bits by way of f32 as on the device."""
    with np.errstate(all="ignore"):
        if dtype in LARGEST:
            values = values.astype(np.float32)
        return values.astype(HOST[dtype])


def assert_same(got, expected, where):
    """Equal bits, except that any NaN is any NaN."""
    with np.errstate(invalid="ignore"):  # signalling NaNs
        nan = np.isnan(got.astype(np.float64)) & np.isnan(expected.astype(np.float64))
    bits = f"u{got.dtype.itemsize}"
    wrong = np.flatnonzero((got.view(bits) != expected.view(bits)) & ~nan)[:5]
    assert wrong.size == 0, (
        f"{where}: element {wrong}: got {got[wrong]}, expected {expected[wrong]}"
    )


def boundaries(dtype):
    """All finite values of a narrow type, the middles between neighbors, and the next f32 of each."""
    values = np.sort(as_type(every_bit_pattern(dtype), "f32"))
    values = values[np.isfinite(values)]
    middle = values[:-1] / 2 + values[1:] / 2
    beyond = [LARGEST[dtype] * f for f in (1, 1.03, 1.0357, 1.04, 1.07, 1.1, 2)]
    with np.errstate(over="ignore"):
        points = np.concatenate([values, middle, beyond]).astype(np.float32)
        up = np.nextafter(points, np.float32(np.inf))
        down = np.nextafter(points, np.float32(-np.inf))
    return np.concatenate([points, up, down, [np.inf, -np.inf, np.nan]]).astype(np.float32)


@pytest.mark.values
@pytest.mark.parametrize("source", NARROW)
def test_narrow_to_floats(xr, source):
    """Every value as every other float; overflow is NaN in e4m3fn, infinity elsewhere."""
    values = every_bit_pattern(source)
    targets = [t for t in dtypes(xr, (*NARROW, "f32", "f64")) if t != source]
    for target, got in convert(xr, values, source, targets).items():
        assert_same(got, as_type(values, target), f"{source} to {target}")


@pytest.mark.values
@pytest.mark.parametrize("target", NARROW)
def test_float_to_narrow(xr, target):
    """Round to nearest even at every boundary there is, and for random bits."""
    values = np.concatenate([boundaries(target), sample("f32", 1 << 16)])
    got = convert(xr, values, "f32", [target])[target]
    assert_same(got, as_type(values, target), target)


@pytest.mark.values
@pytest.mark.parametrize("source", ["f16", "bf16", "f32"])
def test_saturating(xr, source):
    """to_sat gives the largest finite value in place of overflow and of infinity."""
    for target in ("f8e4m3", "f8e5m2"):
        values = boundaries(target) if source == "f32" else every_bit_pattern(source)
        wide = as_type(values, "f64")
        clipped = np.where(np.isnan(wide), wide, np.clip(wide, -LARGEST[target], LARGEST[target]))
        got = convert(xr, values, source, [target], "to_sat")[target]
        assert_same(got, as_type(clipped, target), f"{source} to {target}")


def saturated(values, target):
    """Truncated, clipped to the integer's range, NaN as 0."""
    info = np.iinfo(HOST[target])
    with np.errstate(invalid="ignore"):
        wide = values.astype(np.float64)
    low, high = float(info.min), float(info.max)
    inside = (wide > low) & (wide < high)
    result = np.zeros(wide.shape, HOST[target])
    result[inside] = wide[inside].astype(HOST[target])
    result[wide >= high] = info.max
    result[wide <= low] = info.min
    return result


@pytest.mark.values
@pytest.mark.parametrize("source", ["f16", "bf16", "f8e4m3", "f8e5m2", "f32", "f64"])
def test_float_to_integer(xr, source):
    """Truncates and saturates; to<u8> alone wraps, as PyTorch's does."""
    if source in NARROW:
        values = every_bit_pattern(source)
    else:
        edges = [2.0**k + d for k in (7, 8, 15, 16, 31, 32, 63, 64) for d in (-1, -0.5, 0, 0.5)]
        values = np.concatenate([sample("f64", 1 << 16), edges, [-e for e in edges]])
        values = as_type(values, source)
    for function in ("to", "to_sat"):
        for target, got in convert(xr, values, source, INTEGERS, function).items():
            if function == "to" and target == "u8":
                expected = saturated(values, "i64").astype(np.uint8)
            else:
                expected = saturated(values, target)
            assert_same(got, expected, f"{function} {source} to {target}")


@pytest.mark.values
@pytest.mark.parametrize("source", INTEGERS)
def test_integer_to_others(xr, source):
    """Wraps among integers, anything but zero is true, and floats are rounded to nearest even."""
    info = np.iinfo(HOST[source])
    if info.bits <= 16:
        values = every_bit_pattern(source)
    else:
        near = [2**k + d for k in range(info.bits) for d in (-1, 0, 1)] + [65519, 65520, 257, 259]
        near = [v for v in near + [-v for v in near] if info.min <= v <= info.max]
        rng = np.random.default_rng(0)
        some = rng.integers(info.min, info.max, 1 << 15, HOST[source], endpoint=True)
        values = np.concatenate([np.array(near, HOST[source]), some, some >> 20])
    got = convert(xr, values, source, [*INTEGERS, "bool", *dtypes(xr), "f8e4m3", "f8e5m2"])
    for target in got:
        assert_same(got[target], as_type(values, target), f"{source} to {target}")


@pytest.mark.values
@pytest.mark.parametrize("source", [*NARROW, "f32"])
def test_float_to_bool(xr, source):
    """Only the zeros are false."""
    values = sample("f32", 1 << 10) if source == "f32" else every_bit_pattern(source)
    expected = as_type(values, "f64") != 0
    np.testing.assert_array_equal(convert(xr, values, source, ["bool"])["bool"], expected)


@pytest.mark.values
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
    low, high = (packed & 15).astype(int), (packed >> 4).astype(int)
    np.testing.assert_array_equal(kernels("low", packed), np.where(low > 7, low - 16, low))
    np.testing.assert_array_equal(kernels("high", packed), np.where(high > 7, high - 16, high))
    np.testing.assert_array_equal(kernels("ulow", packed), low)
    np.testing.assert_array_equal(kernels("uhigh", packed), high)
    np.testing.assert_array_equal(kernels("pack", packed), packed)


@pytest.mark.values
@pytest.mark.parametrize("dtype", ["f16", "bf16", "f32"])
def test_nextafter(xr, dtype):
    """The neighbor in the type itself, in both directions from every kind of value."""
    x = sample("f32", 1 << 16) if dtype == "f32" else every_bit_pattern(dtype)
    kernels = Kernels(xr, ["math"], {"next": ("xpu::nextafter(x, y)", 2, dtype)}, dtype)
    for towards in (np.inf, -np.inf, 0.0, np.nan):
        y = np.full(x.shape, towards, HOST[dtype])
        with np.errstate(all="ignore"):
            expected = np.where(x == y, y, np.nextafter(x, y))  # C's rule for two zeros
        assert_same(kernels("next", x, y), expected.astype(HOST[dtype]), f"towards {towards}")
