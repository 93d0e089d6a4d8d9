"""Every operation of the table beside JAX's CPU, in the kinds of numbers it takes."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import compare_with_cpu
from jax import lax

from xla_xpu.compiler.elementwise import OPERATIONS

UNARY = {
    "abs": lax.abs,
    "negate": lax.neg,
    "sign": lax.sign,
    "not": lax.bitwise_not,
    "popcnt": lax.population_count,
    "count_leading_zeros": lax.clz,
    "is_finite": lax.is_finite,
    "floor": lax.floor,
    "ceil": lax.ceil,
    "round_nearest_afz": lambda x: lax.round(x, lax.RoundingMethod.AWAY_FROM_ZERO),
    "round_nearest_even": lambda x: lax.round(x, lax.RoundingMethod.TO_NEAREST_EVEN),
    "sqrt": lax.sqrt,
    "rsqrt": lax.rsqrt,
    "cbrt": lax.cbrt,
    "exponential": lax.exp,
    "exponential_minus_one": lax.expm1,
    "log": lax.log,
    "log_plus_one": lax.log1p,
    "logistic": lax.logistic,
    "tanh": lax.tanh,
    "sine": lax.sin,
    "cosine": lax.cos,
    "tan": lax.tan,
    "real": lax.real,
    "imag": lax.imag,
    "composite@chlo.erf": lax.erf,
    "composite@chlo.erfc": lax.erfc,
    "composite@chlo.asin": lax.asin,
    "composite@chlo.acos": lax.acos,
    "composite@chlo.sinh": lax.sinh,
    "composite@chlo.cosh": lax.cosh,
    "composite@chlo.asinh": lax.asinh,
    "composite@chlo.acosh": lax.acosh,
    "composite@chlo.atanh": lax.atanh,
    "composite@chlo.bessel_i0e": lax.bessel_i0e,
    "composite@chlo.bessel_i1e": lax.bessel_i1e,
    "composite@chlo.erf_inv": lax.erf_inv,
    "composite@chlo.lgamma": lax.lgamma,
    "reduce_precision": lambda x: lax.reduce_precision(x, 5, 7),
}
BINARY = {
    "add": lax.add,
    "subtract": lax.sub,
    "multiply": lax.mul,
    "divide": lax.div,
    "remainder": lax.rem,
    "power": lax.pow,
    "maximum": lax.max,
    "minimum": lax.min,
    "atan2": lax.atan2,
    "and": lax.bitwise_and,
    "or": lax.bitwise_or,
    "xor": lax.bitwise_xor,
    "shift_left": lax.shift_left,
    "shift_right_arithmetic": lax.shift_right_arithmetic,
    "shift_right_logical": lax.shift_right_logical,
    "complex": lax.complex,
    "compare": lambda x, y: (x == y, x != y, x < y, x <= y),
}
# Held elsewhere: below, by test_bits and by test_windows.
OTHERS = {"select", "clamp", "convert", "bitcast_convert", "composite@chlo.mulhi"}

FLOATS = ("float32", "float16", "bfloat16")
INTEGERS = ("int32", "uint8", "int16", "uint32")
KINDS = {
    **dict.fromkeys(("not", "popcnt", "count_leading_zeros"), INTEGERS),
    **dict.fromkeys(("and", "or", "xor"), (*INTEGERS, "bool")),
    **dict.fromkeys(("shift_left", "shift_right_arithmetic", "shift_right_logical"), INTEGERS),
    **dict.fromkeys(("add", "subtract", "multiply"), (*FLOATS, *INTEGERS, "complex64")),
    **dict.fromkeys(("divide", "remainder", "maximum", "minimum"), (*FLOATS, *INTEGERS)),
    **dict.fromkeys(
        ("abs", "negate", "sign"), ("float32", "bfloat16", "int32", "int16", "complex64")
    ),
    **dict.fromkeys(
        ("exponential", "log", "sine", "tanh", "sqrt", "logistic"), (*FLOATS, "complex64")
    ),
    **dict.fromkeys(("real", "imag"), ("complex64",)),
    **dict.fromkeys(("complex",), ("float32",)),
    "compare": (*FLOATS, *INTEGERS),
}


def numbers(dtype, seed=0):
    """Ordinary numbers of either sign, and the dtype's special ones."""
    rng = np.random.default_rng(seed)
    dtype = jnp.dtype(dtype)
    if dtype == jnp.bool_:
        return rng.integers(0, 2, 100).astype(bool)
    if jnp.issubdtype(dtype, jnp.integer):
        info = jnp.iinfo(dtype)
        special = [0, 1, info.max, info.min]
        return np.concatenate([rng.integers(max(info.min, -40), 40, 96), special]).astype(dtype)
    if jnp.issubdtype(dtype, jnp.complexfloating):
        return (rng.standard_normal(100) + 1j * rng.standard_normal(100)).astype(dtype)
    special = [0.0, -0.0, np.inf, -np.inf, np.nan, 1.0, -1.0]
    return np.concatenate([rng.standard_normal(93) * 3, special]).astype(dtype)


def cases(table):
    return [(name, dtype) for name in table for dtype in KINDS.get(name, FLOATS)]


def test_the_whole_table_is_here():
    assert {*UNARY, *BINARY, *OTHERS} == OPERATIONS


@pytest.mark.parametrize(("name", "dtype"), cases(UNARY))
def test_one_operand(name, dtype):
    compare_with_cpu(UNARY[name], numbers(dtype))


def test_complex_infinities_and_nan():
    """Each part is what XLA's expansions make of it on the CPU."""
    parts = [0.0, -0.0, 1.0, -1.0, np.inf, -np.inf, np.nan]
    z = np.array([complex(x, y) for x in parts for y in parts], np.complex64)
    functions = [lax.cosh, lax.sinh, lax.cos, lax.sin, lax.exp, lax.log, lax.log1p, lax.sqrt]

    def both(z):
        return [(lax.real(w), lax.imag(w)) for w in (function(z) for function in functions)]

    compare_with_cpu(both, z)


@pytest.mark.parametrize(("name", "dtype"), cases(BINARY))
def test_two_operands(name, dtype):
    x, y = numbers(dtype), numbers(dtype, 1)
    if name == "power":
        x = abs(x)
    compare_with_cpu(BINARY[name], x, y)


DTYPES = (*FLOATS, *INTEGERS, "bool", "int8", "uint16", "complex64", "float8_e4m3fn", "float8_e5m2")


@pytest.mark.filterwarnings("ignore")
@pytest.mark.parametrize("source", [d for d in DTYPES if d != "complex64"])
@pytest.mark.parametrize("target", DTYPES)
def test_conversions(source, target):
    x = np.linspace(-3, 130, 60).clip(0 if source[0] == "u" else None).astype(jnp.dtype(source))
    compare_with_cpu(lambda x: lax.convert_element_type(x, jnp.dtype(target)), x)


@pytest.mark.parametrize("dtype", ["float32", "int32", "bfloat16"])
def test_choice_and_bounds(dtype):
    x, y = numbers(dtype), numbers(dtype, 1)
    low, high = x[:1].reshape(()), y[:1].reshape(())
    compare_with_cpu(lambda x, y: jnp.where(y > 0, x, y), x, y)
    compare_with_cpu(lambda p, x, y: lax.select(p, x, y), np.bool_(True), x, y)
    compare_with_cpu(lax.clamp, low, x, high)


@pytest.mark.parametrize("dtype", [*FLOATS, "float64"])
def test_comparisons_with_infinity(dtype):
    inf = np.inf
    with jax.enable_x64(dtype == "float64"):
        x = np.append(numbers(dtype), [jnp.finfo(dtype).max, jnp.finfo(dtype).tiny]).astype(dtype)
        compare_with_cpu(lambda x: (x == 0, x == inf, x != inf, x == -inf, x < inf, x >= inf), x)
        compare_with_cpu(lambda x: jnp.where((x == 0) | (x == inf), 1, x), x)


@pytest.mark.parametrize("number", [3.0, -255.0, 0.1, 1e30, 0.0, -np.inf, np.nan])
def test_division_by_a_number(number):
    """XLA makes it a product with the reciprocal: the same bits."""
    x = np.array([0, -0.0, 1, -2.5, 7, 1e-20, 3e20, np.inf, np.nan] * 5, np.float32)
    compare_with_cpu(lambda x: x / np.float32(number), x, exact=True)


def test_clamped_complex_numbers():
    """By their real parts, as on JAX's CPU."""
    x = np.array([1 + 1j, 3 - 1j, -2 + 5j, 2, 2 - 3j, 2 + 9j, 0 - 4j], np.complex64)
    compare_with_cpu(lambda x: lax.clamp(np.complex64(0), x, np.complex64(2 + 2j)), x, exact=True)


SPECIAL = {
    name: function
    for name, function in UNARY.items()
    if name.partition("chlo.")[2] in ("bessel_i0e", "bessel_i1e", "erf_inv", "erfc", "lgamma")
}


@pytest.mark.parametrize("function", SPECIAL.values(), ids=SPECIAL)
def test_special_functions_in_programs(function):
    """Without elements, of 13 dimensions, transposed, in loops and gradients, of float64."""
    x = np.linspace(0.1, 0.9, 40, dtype=np.float32).reshape(8, 5)
    for shape in ((0, 3), (), (1,) * 13):
        compare_with_cpu(function, np.full(shape, 0.3, np.float32))
    compare_with_cpu(jax.vmap(function), x.T)
    compare_with_cpu(jax.grad(lambda x: (function(x) * x).sum()), x)
    compare_with_cpu(lambda x: lax.fori_loop(0, 3, lambda i, y: function(y) * 0.2 + 0.3, x), x)
    with jax.enable_x64(True):
        compare_with_cpu(function, x.astype(np.float64))


@pytest.mark.parametrize("function", SPECIAL.values(), ids=SPECIAL)
def test_special_functions_of_sizes_left_open(function):
    sizes = jax.export.symbolic_shape("a, 3")
    wanted = jax.ShapeDtypeStruct(sizes, np.float32)
    exported = jax.export.export(jax.jit(function), platforms=["xpu", "cpu"])(wanted)
    compare_with_cpu(exported.call, np.full((2, 3), 0.3, np.float32))


@pytest.mark.values
@pytest.mark.parametrize("dtype", FLOATS)
def test_gelu_of_minus_infinity(dtype):
    """It is the limit; XLA's CPU computes infinity times zero."""
    with jax.default_device(jax.devices("xpu")[0]):
        low = jnp.asarray([-np.inf], dtype)
        got = jax.jit(lambda x: jax.nn.gelu(x, approximate=False))(low)
    assert np.asarray(got) == 0
