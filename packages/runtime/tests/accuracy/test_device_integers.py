"""Integer functions of the device library: Python's own integers say what is right."""

from __future__ import annotations

import math

import numpy as np
import pytest
from device_functions import HOST, INTEGERS, Kernels, every_bit_pattern, functions, section, table


def width(dtype):
    return int(dtype[1:])


def limits(dtype):
    info = np.iinfo(HOST[dtype])
    return int(info.min), int(info.max)


def wrap(value, dtype):
    """The value of these low bits."""
    value &= (1 << width(dtype)) - 1
    return value - (1 << width(dtype)) if dtype[0] == "i" and value >> (width(dtype) - 1) else value


def unsigned(value, dtype):
    return value & ((1 << width(dtype)) - 1)


def trunc_div(a, b, dtype):
    return -1 if b == 0 else abs(a) // abs(b) * (1 if (a < 0) == (b < 0) else -1)


def fmod(a, b, dtype):
    return a if b == 0 else a - b * trunc_div(a, b, dtype)


def power(a, b, dtype):
    if b >= 0:
        return pow(unsigned(a, dtype), b, 1 << width(dtype))
    return {1: 1, -1: -1 if b % 2 else 1}.get(a, 0)


def shift_right(a, n, dtype):
    out = not 0 <= n < width(dtype)
    return (-1 if a < 0 else 0) if out else a >> n


REFERENCE = {
    "abs": lambda a, t: abs(a),
    "neg": lambda a, t: -a,
    "sign": lambda a, t: (a > 0) - (a < 0),
    "square": lambda a, t: a * a,
    "popcount": lambda a, t: unsigned(a, t).bit_count(),
    "clz": lambda a, t: width(t) - unsigned(a, t).bit_length(),
    "ctz": lambda a, t: width(t) if a == 0 else (unsigned(a, t) & -unsigned(a, t)).bit_length() - 1,
    "ffs": lambda a, t: (unsigned(a, t) & -unsigned(a, t)).bit_length(),
    "bit_reverse": lambda a, t: int(f"{unsigned(a, t):0{width(t)}b}"[::-1], 2),
    "trunc_div": trunc_div,
    "floor_div": lambda a, b, t: -1 if b == 0 else a // b,
    "fmod": fmod,
    "remainder": lambda a, b, t: a if b == 0 else a % b,
    "pow": power,
    "shift_left": lambda a, n, t: a << n if 0 <= n < width(t) else 0,
    "shift_right": shift_right,
    "shift_right_logical": lambda a, n, t: unsigned(a, t) >> n if 0 <= n < width(t) else 0,
    "maximum": lambda a, b, t: max(a, b),
    "minimum": lambda a, b, t: min(a, b),
    "clamp": lambda a, low, high, t: min(max(a, low), high),
    "gcd": lambda a, b, t: math.gcd(a, b),
    "lcm": lambda a, b, t: math.lcm(a, b),
    "mul_high": lambda a, b, t: (a * b) >> width(t),
    "mean_floor": lambda a, b, t: (a + b) >> 1,
    "mean_ceil": lambda a, b, t: (a + b + 1) >> 1,
}


def edges(dtype):
    """Values at which something happens, and ones of every size."""
    low, high = limits(dtype)
    near = {0, 1, 2, 3, 7, width(dtype) - 1, width(dtype), -1, -2, -5}
    near |= {low, low + 1, high - 1, high}
    return [v for v in sorted(near) if low <= v <= high]


def arguments(dtype, arity, rng):
    """Everything where that is at most 65,536 cases, otherwise all edges together and random values."""
    if width(dtype) * arity <= 16:
        values = every_bit_pattern(dtype)
        return [g.ravel() for g in np.meshgrid(*[values] * arity)]
    grid = np.meshgrid(*[np.array(edges(dtype), HOST[dtype])] * arity)
    low, high = limits(dtype)
    some = rng.integers(low, high, (arity, 2000), HOST[dtype], endpoint=True)
    some >>= rng.integers(0, width(dtype), some.shape).astype(HOST[dtype])
    return [np.concatenate([g.ravel(), s]) for g, s in zip(grid, some, strict=True)]


@pytest.mark.values
@pytest.mark.parametrize("dtype", INTEGERS)
@pytest.mark.parametrize(("header", "name"), functions("integral"))
def test_integers(xr, header, name, dtype, rng):
    """Every function on every width: all 8-bit pairs, all 16-bit values, edge values of the rest."""
    columns = arguments(dtype, table()[header][name]["arity"], rng)
    got = section(header, dtype, ("integral",))(name, *columns)
    rows = zip(*(column.tolist() for column in columns), strict=True)
    expected = [wrap(REFERENCE[name](*row, dtype), dtype) for row in rows]
    wrong = np.flatnonzero(got != np.array(expected, HOST[dtype]))[:1]
    for i in wrong.tolist():
        at = [int(column[i]) for column in columns]
        pytest.fail(f"{name}{at} in {dtype}: got {int(got[i])}, expected {expected[i]}")


@pytest.mark.values
@pytest.mark.parametrize("dtype", INTEGERS)
def test_distance(xr, dtype, rng):
    """The distance of two integers always fits the unsigned type."""
    unsigned_type = f"u{width(dtype)}"
    expressions = {"distance": ("xpu::abs_difference(x, y)", 2, unsigned_type)}
    a, b = arguments(dtype, 2, rng)
    got = Kernels(xr, ["integer"], expressions, dtype)("distance", a, b)
    expected = [abs(p - q) for p, q in zip(a.tolist(), b.tolist(), strict=True)]
    np.testing.assert_array_equal(got, np.array(expected, HOST[unsigned_type]))


BINARY_LOGIC = {
    "eq": np.equal,
    "ne": np.not_equal,
    "lt": np.less,
    "le": np.less_equal,
    "gt": np.greater,
    "ge": np.greater_equal,
    "logical_and": np.logical_and,
    "logical_or": np.logical_or,
    "logical_xor": np.logical_xor,
    "bit_and": np.bitwise_and,
    "bit_or": np.bitwise_or,
    "bit_xor": np.bitwise_xor,
}
UNARY_LOGIC = {"logical_not": np.logical_not, "bit_not": np.invert}


@pytest.mark.values
@pytest.mark.parametrize("dtype", ["bool", "i8", "u64", "i32", "f32", "f16", "bf16"])
@pytest.mark.parametrize(("header", "name"), functions("compare", "bits"))
def test_logic(xr, header, name, dtype):
    """Comparisons, logic and bit operations against numpy's."""
    entry = table()[header][name]
    floating = dtype in ("f32", "f16", "bf16")
    if entry["rule"] == "bits" and floating:
        return  # floats have none
    values = [0, 1, 2, 3, 100] + ([-1.5, np.nan, np.inf, -0.0] if floating else [])
    values = np.array(values).astype(HOST[dtype])
    x, y = (g.ravel() for g in np.meshgrid(values, values))
    rules = ("compare",) if floating else ("compare", "bits")
    got = section(header, dtype, rules)(name, *[x, y][: entry["arity"]])
    with np.errstate(invalid="ignore"):  # NaNs in comparisons
        expected = UNARY_LOGIC[name](x) if entry["arity"] == 1 else BINARY_LOGIC[name](x, y)
    np.testing.assert_array_equal(got, expected)
