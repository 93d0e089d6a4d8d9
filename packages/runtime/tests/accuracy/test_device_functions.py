"""Accuracy of the device library's float functions, by its own table, against float64."""

from __future__ import annotations

import numpy as np
import pytest
import reference_f64
from device_functions import (
    FLOATS,
    HOST,
    Kernels,
    bound,
    every_bit_pattern,
    functions,
    sample,
    section,
    table,
)
from reference import BINARY, TERNARY, UNARY
from ulp import ulp_error

RULES = ("float", "arithmetic", "predicate")


def check(header, name, dtype, got, expected, inputs):
    """Fails with the worst element when the table's bound is exceeded."""
    error = ulp_error(got, expected, dtype, table()[header][name].get("scale", 0.0))
    allowed = bound(header, name, dtype)
    worst = int(np.argmax(error))
    at = ", ".join(repr(float(x[worst])) for x in inputs)
    assert error[worst] <= max(allowed, 0.501), (
        f"{name}({at}) in {dtype}: got {float(got[worst])!r}, expected {float(expected[worst])!r}, "
        f"{error[worst]:.4g} ulp, allowed {allowed}"
    )


def test_every_function_has_a_reference():
    """The table and the references name the same functions."""
    approximate = {
        name for header, name in functions(*RULES, arity=1) if is_approximate(header, name)
    }
    assert approximate <= set(reference_f64.UNARY) | {"neg"}
    known = {1: UNARY, 2: {**BINARY, "nextafter": None}, 3: TERNARY}
    for header, name in functions(*RULES):
        assert name in known[table()[header][name]["arity"]], f"{header}.{name} has no reference"


def is_approximate(header, name):
    """False where float64 arithmetic gives the double result itself."""
    entry = table()[header][name]
    return not entry.get("exact") and entry["rule"] != "predicate"


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("header", "name"), functions(*RULES, arity=1))
def test_unary(header, name, dtype):
    """All 65,536 values of the 16-bit types; f32 and f64 sampled over bit patterns and where it matters."""
    if dtype == "f64" and is_approximate(header, name):
        return check_double(header, name)
    x = every_bit_pattern(dtype) if dtype in ("f16", "bf16") else sample(dtype, 1 << 17)
    got = section(header, dtype, RULES)(name, x)
    with np.errstate(all="ignore"):
        expected = UNARY[name](x.astype(np.float64))
    if table()[header][name]["rule"] == "predicate":
        np.testing.assert_array_equal(got, expected)
    else:
        check(header, name, dtype, got, expected, [x])


def check_double(header, name):
    """Against many digits, for arguments of ordinary size: evenly spread, and close to zero."""
    function, low, high = reference_f64.UNARY[name]
    rng = np.random.default_rng(0)
    near = np.exp(rng.uniform(-12, 0, 40)) * rng.choice([-1.0, 1.0], 40)
    x = np.concatenate([rng.uniform(low, high, 60), near])
    x = x[(x > low) & (x < high)]
    expected = np.array([float(function(reference_f64.mp.mpf(float(v)))) for v in x])
    check(header, name, "f64", section(header, "f64", RULES)(name, x), expected, [x])


@pytest.mark.fp64
@pytest.mark.values
def test_special_values_of_doubles():
    """Infinities, zeros and NaN give in double what they give in float."""
    x = np.array([0.0, -0.0, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan])
    for header, name in functions(*RULES, arity=1):
        narrow = section(header, "f32", RULES)(name, x.astype(np.float32)).astype(np.float64)
        wide = section(header, "f64", RULES)(name, x).astype(np.float64)
        np.testing.assert_allclose(wide, narrow, rtol=1e-5, atol=1e-6, err_msg=f"{header}.{name}")


@pytest.mark.values
@pytest.mark.parametrize("dtype", ["f8e4m3", "f8e5m2"])
@pytest.mark.parametrize("header", ["math", "exp", "hyperbolic"])
def test_eight_bits(xr, header, dtype):
    """All 256 values: the float function's result, rounded once."""
    x = every_bit_pattern(dtype)
    names = [name for h, name in functions("float", "arithmetic", arity=1) if h == header]
    kernels = Kernels(xr, [header], {name: (f"xpu::{name}(x)", 1, dtype) for name in names}, dtype)
    for name in names:
        got = kernels(name, x).astype(np.float32)
        with np.errstate(all="ignore"):
            wide = section(header, "f32", RULES)(name, x.astype(np.float32))
            expected = wide.astype(HOST[dtype]).astype(np.float32)
        np.testing.assert_array_equal(got, expected, f"{name} in {dtype}")


@pytest.mark.values
@pytest.mark.parametrize("dtype", ["f16", "bf16"])
def test_short_results(xr, dtype):
    """Elementwise kernels with 16-bit results take shorter forms of float functions, as exact for them."""
    x = every_bit_pattern(dtype)
    out = xr.empty(x.shape, dtype)
    gelu = xr.kernels.Elementwise("gelu", "xpu::gelu(a0)", headers=["gelu"])
    gelu(out, [xr.from_numpy(x.view(np.uint16), dtype) if dtype == "bf16" else xr.from_numpy(x)])
    with np.errstate(all="ignore"):
        expected = UNARY["gelu"](x.astype(np.float64))
    check("gelu", "gelu", dtype, out.numpy(), expected, [x])


# Defined by the steps they take in the arithmetic type, each of them rounded.
STEPWISE = ("trunc_div", "round_decimals")


def arguments(name: str) -> list[np.ndarray]:
    """Arguments of two- and three-argument functions, inside the domain of those with a narrow one."""
    rng = np.random.default_rng(1)
    n = 1 << 15
    if name in ("igamma", "igammac"):
        a = np.exp(rng.uniform(-3, 7, n))
        return [a, a * np.exp(rng.normal(0, 0.5, n))]
    if name == "zeta":
        return [rng.uniform(1.1, 20, n), np.exp(rng.uniform(-2, 4, n))]
    if name == "polygamma":
        return [rng.integers(0, 5, n).astype(float), np.exp(rng.uniform(-1, 4, n))]
    if name == "round_decimals":
        return [rng.uniform(-100, 100, n), rng.integers(-2, 3, n).astype(float)]
    if name in ("fma", "lerp", "softplus", "celu", "elu", "logaddexp", "logaddexp2"):
        return [rng.normal(0, 3, n), rng.uniform(0.25, 3, n), rng.uniform(-3, 20, n)]
    if name in ("hardshrink", "softshrink"):
        return [rng.normal(0, 2, n), rng.uniform(0, 1, n)]
    patterns = [rng.permutation(every_bit_pattern("f16")).astype(float) for _ in range(3)]
    moderate = [rng.normal(0, 4, n) for _ in range(3)]
    special = np.array([0.0, -0.0, 1.0, -1.0, 2.5, np.inf, -np.inf, np.nan])
    grid = [g.ravel() for g in np.meshgrid(special, special, special)]
    return [np.concatenate(parts) for parts in zip(patterns, moderate, grid, strict=False)]


# nextafter has a test of its own, in the type itself.
SEVERAL = [f for n in (2, 3) for f in functions(*RULES, arity=n) if f[1] != "nextafter"]


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
@pytest.mark.parametrize(("header", "name"), SEVERAL)
def test_several_arguments(header, name, dtype):
    """Pairs and triples of ordinary, extreme and special values."""
    arity = table()[header][name]["arity"]
    kernels = section(header, dtype, RULES)
    with np.errstate(all="ignore"):
        inputs = [np.asarray(x, np.float64).astype(HOST[dtype]) for x in arguments(name)[:arity]]
        arithmetic = np.float32 if name in STEPWISE and dtype != "f64" else np.float64
        wide = [x.astype(arithmetic) for x in inputs]
        expected = (BINARY if arity == 2 else TERNARY)[name](*wide)
    check(header, name, dtype, kernels(name, *inputs), expected, inputs)


# Builtins of a backend that is as exact as it must be and no more.
INEXACT = """
#include <xpu/core.h>
XPU_FN double moved(double v, int) { return v; }
XPU_FN float moved(float v, int last_places) {
  return xpu::bits_as<float>(xpu::bits_as<int>(v) + last_places);
}
#define __spirv_ocl_exp(x) moved(__spirv_ocl_exp(x), MOVED)
#define __spirv_ocl_tanh(x) moved(__spirv_ocl_tanh(x), 2 * MOVED)
#include <xpu/activation.h>
XPU_KERNEL(1) apply(xpu::global<const float> x, xpu::global<float> y) {
  y[xpu::global_id()] = xpu::FUNCTION(x[xpu::global_id()]);
}
"""


@pytest.mark.values
@pytest.mark.parametrize("places", [-1, 1])
@pytest.mark.parametrize("name", ["mish", "tanhshrink"])
def test_errors_of_builtins_are_not_multiplied(xr, name, places):
    source = f"#define MOVED {places}\n#define FUNCTION {name}\n" + INEXACT
    positive = np.geomspace(1e-3, 20, 1 << 17, dtype=np.float32)
    x = np.concatenate([-positive, positive])
    y = xr.empty(x.shape)
    xr.launch(xr.compile(source).kernel("apply"), x.size, 64, [xr.from_numpy(x), y])
    expected = UNARY[name](x.astype(np.float64))
    assert ulp_error(y.numpy(), expected, "f32").max() <= 5


OUTSIDE = """
#include <xpu/core.h>
#define __spirv_ocl_acospi(x) (x == x ? (__typeof__(x))__builtin_inf() : x)
#define __spirv_ocl_asinpi(x) __spirv_ocl_acospi(x)
#include <xpu/trig.h>
XPU_KERNEL(1) apply(xpu::global<const double> x, xpu::global<double> y) {
  y[0] = xpu::acospi(x[0]);
  y[1] = xpu::asinpi(x[1]);
  y[2] = xpu::acospi((float)x[0]);
  y[3] = xpu::asinpi((float)x[1]);
}
"""


@pytest.mark.values
def test_arcs_of_numbers_that_are_none_are_nan(xr):
    """Also where the backend's builtin gives infinity."""
    if not xr.devices()[0].fp64:
        pytest.skip("no fp64")
    kernel = xr.compile(OUTSIDE).kernel("apply")
    for outside in (np.inf, -np.inf, 1.5, -1.5):
        x, y = xr.from_numpy(np.full(2, outside)), xr.zeros(4, "f64")
        xr.launch(kernel, 1, 1, [x, y])
        assert np.isnan(y.numpy()).all()
