"""The device library's rules for NaN, infinities, signed zeros and subnormal numbers."""

from __future__ import annotations

import numpy as np
import pytest
from device_functions import FLOATS, HOST, dtypes, every_bit_pattern, functions, section, table
from reference import UNARY

RULES = ("float", "arithmetic", "predicate")

# f(-x) = -f(x) and f(0) = 0: the sign of a zero comes through.
ODD = {
    "math": ("trunc", "round_even", "round_away", "sign_nan", "cbrt"),
    "exp": ("expm1", "log1p"),
    "trig": (
        "sin",
        "tan",
        "sinpi",
        "tanpi",
        "asin",
        "atan",
        "asinpi",
        "atanpi",
        "deg2rad",
        "rad2deg",
    ),
    "hyperbolic": ("sinh", "tanh", "asinh", "atanh"),
    "erf": ("erf", "erfinv"),
    "activation": ("hardswish", "softsign", "tanhshrink", "silu", "mish"),
    "bessel": ("j1",),
    "modified_bessel": ("i1", "i1e"),
}


def cases(*rules):
    """(header, name, its entry in the table) of all functions with these rules."""
    return [(header, name, table()[header][name]) for header, name in functions(*rules)]


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
def test_nan(dtype):
    """A NaN in any argument gives NaN unless the table says what else; of activations, in the first."""
    wrong = []
    for header, name, entry in cases("float", "arithmetic"):
        if "nan" in entry:
            continue
        for position in range(1 if header == "activation" else entry["arity"]):
            arguments = [np.full(1, 1.5, HOST[dtype]) for _ in range(entry["arity"])]
            arguments[position][:] = np.nan
            if not np.isnan(float(section(header, dtype, RULES)(name, *arguments)[0])):
                wrong.append(f"{header}.{name}, argument {position}")
    assert wrong == []


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
def test_infinities(dtype):
    """At the infinities every function is its limit, or NaN where it has none."""
    x = np.array([np.inf, -np.inf], HOST[dtype])
    wrong = []
    for header, name, entry in cases("float", "arithmetic"):
        if entry["arity"] == 1:
            got = section(header, dtype, RULES)(name, x).astype(np.float64)
            with np.errstate(all="ignore"):
                expected = UNARY[name](x.astype(np.float64)).astype(HOST[dtype]).astype(np.float64)
            if not np.allclose(got, expected, rtol=1e-2, atol=0, equal_nan=True):
                wrong.append(f"{header}.{name}: got {got}, expected {expected}")
    assert wrong == []


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
def test_signed_zeros(dtype):
    """Odd functions give the zero they are given; minima and maxima put -0 below +0."""
    zeros = np.array([0.0, -0.0], HOST[dtype])
    wrong = []
    for header, names in ODD.items():
        for name in names:
            got = section(header, dtype, RULES)(name, zeros)
            if np.signbit(got).tolist() != [False, True] or got.astype(np.float64).any():
                wrong.append(f"{header}.{name}: got {got}")
    assert wrong == []
    kernels = section("math", dtype, RULES)
    assert np.signbit(kernels("minimum", zeros, zeros[::-1])).tolist() == [True, True]
    assert np.signbit(kernels("maximum", zeros, zeros[::-1])).tolist() == [False, False]


def subnormals(dtype):
    """All subnormal numbers of a 16-bit type; of a wider one as many, the largest and smallest among them."""
    if dtype in ("f16", "bf16"):
        values = every_bit_pattern(dtype)
        wide = np.abs(values.astype(np.float32))
        return values[(wide > 0) & (wide < (2.0**-14 if dtype == "f16" else 2.0**-126))]
    bits, word = (23, np.uint32) if dtype == "f32" else (52, np.uint64)
    magnitudes = np.random.default_rng(0).integers(1, 2**bits, 1 << 12, word)
    magnitudes[:2] = 1, 2**bits - 1
    values = magnitudes.view(HOST[dtype])
    return np.concatenate([values, -values])


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
def test_subnormals(dtype):
    """Subnormal arguments and results are kept: nothing is flushed to zero."""
    x = subnormals(dtype)
    one = np.ones_like(x)
    kernels = section("math", dtype, RULES)
    expected = {
        "abs": np.abs(x),
        "neg": -x,
        "add": x + x,
        "sub": x - (-x),
        "mul": x * one,
        "div": x / one,
        "copysign": np.copysign(x, one),
        "maximum": x,
        "minimum": x,
    }
    second = {"add": x, "sub": -x, "maximum": x, "minimum": x}
    for name, value in expected.items():
        inputs = [x, second.get(name, one)][: table()["math"][name]["arity"]]
        np.testing.assert_array_equal(kernels(name, *inputs), value, f"{name} in {dtype}")
    for header, name in (
        ("trig", "sin"),
        ("hyperbolic", "tanh"),
        ("exp", "expm1"),
        ("exp", "log1p"),
    ):
        np.testing.assert_array_equal(
            section(header, dtype, RULES)(name, x), x, f"{name} in {dtype}"
        )


@pytest.mark.values
@pytest.mark.parametrize("dtype", ["f32", "f64"])
def test_sines_and_cosines_of_each_other(xr, child, dtype):
    """In a process of its own: a driver's compiler has died of them."""
    if dtype not in dtypes(xr):
        pytest.skip("the device does not compute in f64")
    child(f"""
        import numpy as np
        import xpu_runtime as xr

        x = np.linspace(-9, 9, 101).astype(np.{np.dtype(HOST[dtype]).name})
        s, c = np.sin(x), np.cos(x)
        expression = "sin(sin(a0)) * cos(sin(a0)) + sin(cos(a0)) * cos(cos(a0))"
        op = xr.kernels.Elementwise("chained", expression, headers=["trig"])
        got = xr.empty(101, "{dtype}")
        op(got, [xr.from_numpy(x)])
        expected = np.sin(s) * np.cos(s) + np.sin(c) * np.cos(c)
        np.testing.assert_allclose(got.numpy(), expected, rtol=1e-5, atol=1e-6)
        """).check()
