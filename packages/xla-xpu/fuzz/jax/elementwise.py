"""Operations of each element by itself."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from operations import Pick, fitted, operation, with_one_shape
from values import Value, bounded, random_dtype

_OF_INTEGERS = """
    add subtract multiply bitwise_and bitwise_or bitwise_xor maximum minimum floor_divide remainder left_shift
    right_shift less equal
""".split()  # noqa: SIM905

SMOOTH = {
    "sin": jnp.sin,
    "cos": jnp.cos,
    "tanh": jnp.tanh,
    "exp": lambda x: jnp.exp(jnp.minimum(x, 3)),
    "log1p": lambda x: jnp.log1p(jnp.abs(x)),
    "sqrt": lambda x: jnp.sqrt(jnp.abs(x) + 0.5),
    "rsqrt": lambda x: lax.rsqrt(jnp.abs(x) + 0.5),
    "erf": lax.erf,
    "logistic": jax.nn.sigmoid,
    "softplus": jax.nn.softplus,
    "expm1": lambda x: jnp.expm1(jnp.minimum(x, 3)),
    "atan": jnp.arctan,
    "asinh": jnp.arcsinh,
    "cbrt": lambda x: jnp.cbrt(jnp.abs(x) + 1),
    "square": jnp.square,
    "gelu": jax.nn.gelu,
    "log": lambda x: jnp.log(jnp.abs(x) + 0.25),
    "reciprocal": lambda x: 1 / (1 + x * x),
    "sinh": lambda x: jnp.sinh(jnp.clip(x, -3, 3)),
    "acos": lambda x: jnp.arccos(jnp.clip(x, -1, 1) * 0.9),
    "lgamma": lambda x: lax.lgamma(jnp.abs(x) + 1.5),
    "digamma": lambda x: lax.digamma(jnp.abs(x) + 1.5),
    "erf_inv": lambda x: lax.erf_inv(jnp.tanh(x) * 0.9),
    "power": lambda x: lax.integer_pow(bounded(x), 3),
}
EXACT = {
    "neg": jnp.negative,
    "abs": jnp.abs,
    "half": lambda x: x * np.array(0.5, x.dtype),
    "relu": jax.nn.relu,
}
STEPS = {
    "floor": jnp.floor,
    "ceil": jnp.ceil,
    "round": jnp.round,
    "sign": jnp.sign,
    "isfinite": jnp.isfinite,
    "trunc": jnp.trunc,
}


@operation(3)
def unary(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if value.kind == "complex":
        name = rng.choice(["exp", "conj", "abs", "angle", "square", "real", "imag", "tanh"])
        if name in ("conj", "real", "imag"):
            return Value(getattr(jnp, name)(value.array), value.exact)
        array = bounded(value.array)
        if name == "angle":
            array = array + 2  # away from the cut
        return Value(getattr(jnp, name)(array), False)
    if value.kind != "float":
        if value.kind == "bool":
            return Value(~value.array, value.exact)
        name = rng.choice(["neg", "abs", "not", "popcount", "clz", "sign"])
        function = {
            "neg": jnp.negative,
            "abs": jnp.abs,
            "not": jnp.invert,
            "popcount": lax.population_count,
            "clz": lax.clz,
            "sign": jnp.sign,
        }[str(name)]
        return Value(function(value.array), value.exact)
    roll = rng.random()
    if roll < 0.7:
        return Value(SMOOTH[str(rng.choice(list(SMOOTH)))](value.array), False)
    if roll < 0.85 or not value.exact:
        return Value(EXACT[str(rng.choice(list(EXACT)))](value.array), value.exact)
    return Value(STEPS[str(rng.choice(list(STEPS)))](value.array), True)


@operation(4)
def binary(rng: np.random.Generator, pick: Pick) -> Value | None:
    a, b = with_one_shape(rng, pick(), pick())
    exact = a.exact and b.exact
    x, y = a.array, b.array
    if a.kind == "bool":
        name = rng.choice(["logical_and", "logical_or", "logical_xor", "equal"])
        return Value(getattr(jnp, str(name))(x, y), exact)
    if a.kind == "int":
        name = rng.choice(_OF_INTEGERS)
        if name in ("left_shift", "right_shift"):
            y = y & 7
        if name in ("floor_divide", "remainder"):
            y = y | 1
        return Value(getattr(jnp, str(name))(x, y), exact)
    if a.kind == "complex":
        name = str(rng.choice(["add", "subtract", "multiply", "divide"]))
        if name == "divide":
            y = bounded(y) + 3
        return Value(getattr(jnp, name)(x, y), False)
    names = [
        "add",
        "subtract",
        "multiply",
        "divide",
        "maximum",
        "minimum",
        "power",
        "arctan2",
        "hypot",
    ]
    if exact:
        names += [
            "less",
            "greater_equal",
            "equal",
            "not_equal",
            "nextafter",
            "copysign",
            "remainder",
        ]
    name = str(rng.choice(names))
    if name in ("divide", "remainder"):
        y = jnp.abs(y) + 1
    if name == "power":
        x, y = jnp.abs(x) + 0.5, jnp.clip(y, -2, 2)
    if name == "arctan2":
        y = jnp.abs(y) + 1
    keeps = ("maximum", "minimum", "less", "greater_equal", "equal", "not_equal", "copysign")
    return Value(getattr(jnp, name)(x, y), exact and name in keeps)


@operation(1.5)
def choose(rng: np.random.Generator, pick: Pick) -> Value | None:
    a, b = with_one_shape(rng, pick(), pick())
    where = next((v for v in (pick() for _ in range(4)) if v.kind == "bool"), None)
    if where is None:
        condition = jnp.arange(int(np.prod(a.shape))).reshape(a.shape) % 3 == 0
        where = Value(condition, True)
    shape = np.broadcast_shapes(a.shape, b.shape)
    condition = fitted(where.array, shape)
    exact = a.exact and b.exact and where.exact
    if not where.exact:
        return None
    return Value(jnp.where(condition, a.array, b.array), exact)


@operation(1)
def limits(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if value.kind in ("bool", "complex"):
        return None
    low, high = sorted(int(n) for n in rng.integers(0, 6, 2))
    dtype = value.array.dtype
    return Value(lax.clamp(np.array(low, dtype), value.array, np.array(high, dtype)), value.exact)


@operation(1.5)
def convert(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    dtype = random_dtype(rng, jax.config.jax_enable_x64)
    integral = dtype.startswith(("int", "uint", "bool"))
    if integral and not value.exact:
        return None
    array = value.array
    if value.kind == "complex" and not dtype.startswith("complex"):
        array = jnp.real(array)
    if value.kind in ("float", "complex") and integral:
        array = jnp.clip(jnp.nan_to_num(array), 0, 100)
    return Value(array.astype(dtype), value.exact)


@operation(0.7)
def bits(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.exact or value.kind in ("bool", "complex"):
        return None
    size = value.array.dtype.itemsize
    to = {1: ["uint8", "int8"], 2: ["uint16", "int16"], 4: ["uint32", "int32"]}.get(size)
    if to is None:
        return None
    names = [*to, *(["uint8"] if size == 4 else [])]
    array = jnp.nan_to_num(value.array) if value.kind == "float" else value.array
    return Value(lax.bitcast_convert_type(array, str(rng.choice(names))), True)
