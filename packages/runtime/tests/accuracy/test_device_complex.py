"""Complex functions: accuracy by the table against many digits, special values against NumPy."""

from __future__ import annotations

import functools

import mpmath as mp
import numpy as np
import pytest
import reference_complex as reference
from complex_points import DIGITS, REAL, WHOLE, errors, rounded, sample
from device_functions import Kernels, table

DTYPES = ("c64", "c128")
DEFAULT_BOUND = 4.0
REAL_RESULT = ("abs", "angle", "real", "imag")
TRUTH = ("predicate", "compare")


def entries() -> dict[str, tuple[str, dict]]:
    """Name -> (section, entry) of the complex functions."""
    return {
        name: (section, entry)
        for section, functions in table().items()
        for name, entry in functions.items()
        if entry.get("complex") or entry["rule"] == "complex"
    }


@functools.cache
def kernels(dtype: str, of_reals: bool = False) -> Kernels:
    """All functions of complex numbers, or those that make one of two reals."""
    import xpu_runtime

    expressions = {}
    for name, (_, entry) in entries().items():
        if (name in reference.FROM_REAL) == of_reals:
            truth = entry["rule"] in TRUTH
            result = "bool" if truth else REAL[dtype] if name in REAL_RESULT else dtype
            call = f"xpu::{name}({', '.join('xyz'[: entry['arity']])})"
            expressions[name] = (call, entry["arity"], result)
    return Kernels(xpu_runtime, ["complex_math"], expressions, REAL[dtype] if of_reals else dtype)


def check(name, dtype, got, function, *inputs):
    """Fails with the worst element when the table's bound is exceeded."""
    entry = entries()[name][1]
    with mp.workdps(DIGITS[dtype]):
        exact = [
            function(*map(mp.mpmathify, z)) for z in zip(*(x.tolist() for x in inputs), strict=True)
        ]
        error = errors(got, exact, dtype, entry.get("scale", 0.0))
    worst = int(np.argmax(error))
    allowed = entry.get("complex_ulp", 0.0 if entry.get("exact") else DEFAULT_BOUND)
    at = ", ".join(repr(x[worst]) for x in inputs)
    expected = mp.nstr(exact[worst], 17)
    assert error[worst] <= allowed, (
        f"{name}({at}) in {dtype}: got {got[worst]!r}, expected {expected}, "
        f"{error[worst]:.4g} epsilons, allowed {allowed}"
    )


def test_every_function_has_a_reference():
    """The table and the references name the same functions."""
    known = {*reference.UNARY, *reference.BINARY, *reference.TERNARY, *reference.FROM_REAL}
    assert known == {name for name, (_, e) in entries().items() if e["rule"] not in TRUTH}


@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", DTYPES)
def test_all_run(dtype):
    """On every device, and in single precision on those without a double one."""
    for of_reals in (False, True):
        functions = kernels(dtype, of_reals)
        one = np.ones(1, np.float32 if of_reals else np.complex64)
        for name, (_, arity, _) in functions.expressions.items():
            assert functions(name, *[one] * arity).shape == (1,)


@pytest.mark.values
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", reference.UNARY)
def test_unary(name, dtype):
    """Over the whole range and near every branch point, zero and pole."""
    function, limits = reference.UNARY[name]
    z = sample(dtype, limits)
    check(name, dtype, kernels(dtype)(name, z), function, z)


@pytest.mark.values
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["add", "sub", "mul", "div"])
def test_arithmetic(name, dtype):
    """Pairs of all magnitudes."""
    x = sample(dtype)
    y = np.random.default_rng(1).permutation(x)
    check(name, dtype, kernels(dtype)(name, x, y), reference.BINARY[name], x, y)


@pytest.mark.values
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", DTYPES)
def test_several_arguments(dtype):
    """Of ordinary size: powers whose exponents reach 12, interpolation on both sides of weight 1/2, polar."""
    rng, n = np.random.default_rng(2), 400

    def normal(spread):
        return rounded(rng.normal(0, spread, n) + 1j * rng.normal(0, spread, n), dtype)

    base = rounded(np.exp(rng.uniform(-4, 4, n) + 1j * rng.uniform(-3.1, 3.1, n)), dtype)
    exponent = normal(4)
    check(
        "pow", dtype, kernels(dtype)("pow", base, exponent), reference.BINARY["pow"], base, exponent
    )
    ends = normal(3), normal(3), normal(1)
    check("lerp", dtype, kernels(dtype)("lerp", *ends), reference.TERNARY["lerp"], *ends)
    reals = np.ascontiguousarray(base.real), np.ascontiguousarray(exponent.imag)
    for name, function in reference.FROM_REAL.items():
        check(name, dtype, kernels(dtype, of_reals=True)(name, *reals), function, *reals)


SPECIAL = np.array([0.0, -0.0, 0.5, -0.5, 1.0, -1.0, 2.0, -2.0, np.inf, -np.inf, np.nan])


def special_numbers(dtype):
    """Every pair of zeros, ordinary numbers, infinities and NaN."""
    z = np.empty(SPECIAL.size**2, WHOLE[dtype])
    z.real, z.imag = np.repeat(SPECIAL, SPECIAL.size), np.tile(SPECIAL, SPECIAL.size)
    return z


def alike(got, expected, dtype, signs):
    """Which results are the same: part by part NaN, infinite or near; in the signs of zeros where `signs`.

    C99 leaves the sign of a zero or infinity open beside a NaN.
    """
    got, expected = got.astype(np.complex128), expected.astype(np.complex128)
    size = np.abs(expected)
    result = np.ones(got.shape, bool)
    pairs = [(got.real, expected.real, expected.imag), (got.imag, expected.imag, expected.real)]
    for a, b, other in pairs:
        near = 16 * np.finfo(WHOLE[dtype]).eps * np.where(np.isfinite(size), size, np.abs(b))
        with np.errstate(invalid="ignore"):
            close = np.isfinite(b) & (np.abs(a - b) <= near)
        same = (a == b) | close | (np.isnan(a) & np.isnan(b))
        sign = (np.signbit(a) == np.signbit(b)) | ((b != 0) & np.isfinite(b)) | np.isnan(b)
        open_sign = np.isnan(other) & ((a == b) | (np.isinf(a) & np.isinf(b)))
        result &= (same & (sign | ~signs)) | open_sign
    return result


def no_angle(z):
    """Where exp is a zero of no direction."""
    return (z.real == -np.inf) & ~np.isfinite(z.imag)


# Where the rule is not NumPy's. sgn is z / |z|, NaN at infinities. 1 / 0 is inf + nan i, as in PyTorch.
OTHER_RULE = {"sgn": np.isinf, "reciprocal": lambda z: z == 0}
# Where C99 leaves the sign of a zero open, or where it is that of a sum that is zero.
OTHER_SIGN = {
    "exp": no_angle,
    "exp2": no_angle,
    "expm1": no_angle,
    "reciprocal": lambda z: np.full(z.shape, True),
}


@pytest.mark.values
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", reference.NUMPY)
def test_special_values(name, dtype):
    """Zeros of either sign, infinities and NaN give what they give in NumPy."""
    z = special_numbers(dtype)
    got = kernels(dtype)(name, z)
    wide = z.astype(np.complex128)
    with np.errstate(all="ignore"):
        expected = np.asarray(reference.NUMPY[name](wide))
    signs = ~OTHER_SIGN[name](wide) if name in OTHER_SIGN else np.full(z.shape, True)
    wrong = ~alike(got, expected, dtype, signs)
    if name in OTHER_RULE:
        wrong &= ~OTHER_RULE[name](wide)
    listed = [f"{x}: got {g}, expected {e}" for x, g, e in zip(z, got, expected, strict=True)]
    assert [text for text, bad in zip(listed, wrong, strict=True) if bad] == []


INF, NAN = np.inf, np.nan


@pytest.mark.values
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", DTYPES)
def test_tangents_without_an_angle(dtype):
    """Numbers of which the other part alone makes the tangent 1 give NaN too."""
    pairs = [(x, y) for x in (50, -50) for y in (INF, -INF, NAN)]
    z = np.array([complex(x, y) for x, y in pairs], WHOLE[dtype])
    times_i = np.array([complex(y, x) for x, y in pairs], WHOLE[dtype])
    for got in (kernels(dtype)("tanh", z), kernels(dtype)("tan", times_i)):
        assert np.isnan(got.real).all()
        assert np.isnan(got.imag).all()


@pytest.mark.values
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", DTYPES)
def test_special_pairs(dtype):
    """Products, quotients, comparisons and logic of special numbers give what they give in NumPy."""
    z = special_numbers(dtype)
    x, y = np.repeat(z, z.size), np.tile(z, z.size)
    none = np.full(x.shape, False)
    with np.errstate(all="ignore"):
        for name, function in {"mul": np.multiply, "div": np.divide, "add": np.add}.items():
            got, expected = kernels(dtype)(name, x, y), function(x, y)
            wrong = np.flatnonzero(~alike(got, expected, dtype, none))
            assert [(x[i], y[i], got[i], expected[i]) for i in wrong[:5]] == [], name
        for name, function in {
            "eq": np.equal,
            "ne": np.not_equal,
            "logical_and": np.logical_and,
            "logical_or": np.logical_or,
            "logical_xor": np.logical_xor,
        }.items():
            np.testing.assert_array_equal(kernels(dtype)(name, x, y), function(x, y), name)
    np.testing.assert_array_equal(kernels(dtype)("logical_not", z), np.logical_not(z))


@pytest.mark.values
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", DTYPES)
def test_special_values_of_functions_numpy_lacks(dtype):
    """Limits where there are any."""

    def give(name, *inputs):
        values = kernels(dtype)(name, *(np.array([x], WHOLE[dtype]) for x in inputs))
        return complex(values[0])

    def parts(name, *inputs):
        value = give(name, *inputs)
        return [value.real, value.imag]

    for y in (0.0, 3.0, INF, NAN):
        assert give("logistic", complex(INF, y)) == 1
        assert give("logistic", complex(-INF, y)) == 0
    assert np.isnan(give("logistic", complex(NAN, 1)))
    assert give("sinc", 0) == 1
    assert give("sinc", complex(1e-30, -1e-30)) == 1
    np.testing.assert_array_equal(parts("rsqrt", 0), [INF, NAN])
    assert give("rsqrt", complex(-INF, 0)) == 0
    assert give("pow", 0, 0) == 1
    assert give("pow", 0, complex(2, 1)) == 0
    assert np.isnan(give("pow", 0, -1))
    assert give("pow", complex(NAN, 0), 0) == 1
    assert give("lerp", complex(1, 2), complex(3, -4), 1) == complex(3, -4)


@pytest.mark.values
@pytest.mark.usefixtures("device")
@pytest.mark.parametrize("dtype", DTYPES)
@pytest.mark.parametrize("name", ["atan", "atanh"])
def test_the_sign_of_a_nan_means_nothing(name, dtype):
    """Backends differ in the sign of the NaN that a negation gives."""
    for nan in (NAN, -NAN):
        z = np.array([complex(INF, nan) if name == "atan" else complex(nan, INF)], WHOLE[dtype])
        (value,) = kernels(dtype)(name, z)
        result, zero = (value.real, value.imag) if name == "atan" else (value.imag, value.real)
        assert result == pytest.approx(np.pi / 2)
        assert zero == 0
        assert not np.signbit(zero)
