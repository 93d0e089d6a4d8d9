"""Operations that random programs are made of; each takes values and may refuse them with None."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from values import MOST, Value, bounded, random_dtype, small_enough

Pick = Callable[[], Value]
Operation = Callable[[np.random.Generator, Pick], "Value | None"]
OPERATIONS: dict[str, tuple[Operation, float]] = {}


_OF_INTEGERS = """
    add subtract multiply bitwise_and bitwise_or bitwise_xor maximum minimum floor_divide remainder left_shift
    right_shift less equal
""".split()  # noqa: SIM905


def operation(weight: float = 1.0) -> Callable[[Operation], Operation]:
    """Makes a function an operation of its name."""

    def register(function: Operation) -> Operation:
        OPERATIONS[function.__name__] = (function, weight)
        return function

    return register


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
    a, b = _alike(rng, pick(), pick())
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


def _alike(rng: np.random.Generator, a: Value, b: Value) -> tuple[Value, Value]:
    """Of one dtype, and of shapes that broadcast."""
    x, y = a.array, b.array
    if x.dtype != y.dtype:
        if "complex" in (a.kind, b.kind) and b.kind != "complex":
            x, y, a, b = y, x, b, a
        if b.kind == "float" and a.kind in ("int", "bool"):
            x, y, a, b = y, x, b, a
        exact_b = b.exact
        if b.kind == "complex":
            y = jnp.real(y)
        if b.kind == "int" and a.kind != "int":
            y = y % np.array(17, y.dtype)
        y = y.astype(x.dtype)
        b = Value(y, exact_b and b.kind != "float")
    if x.shape != y.shape:
        try:
            shape = np.broadcast_shapes(x.shape, y.shape)
            if not small_enough(shape):
                raise ValueError
        except ValueError:
            # A corner of the one, or its first element.
            y = _fitted(y, x.shape)
    return Value(x, a.exact), Value(y, b.exact)


def _fitted(y: Any, shape: tuple[int, ...]) -> Any:
    """As much of an array as there is, brought to a shape."""
    if y.size == 0:
        return jnp.zeros(shape, y.dtype)
    flat = y.reshape(-1)
    count = int(np.prod(shape))
    return jnp.resize(flat, (count,)).reshape(shape) if count else jnp.zeros(shape, y.dtype)


@operation(1.5)
def choose(rng: np.random.Generator, pick: Pick) -> Value | None:
    a, b = _alike(rng, pick(), pick())
    where = next((v for v in (pick() for _ in range(4)) if v.kind == "bool"), None)
    if where is None:
        condition = jnp.arange(int(np.prod(a.shape))).reshape(a.shape) % 3 == 0
        where = Value(condition, True)
    shape = np.broadcast_shapes(a.shape, b.shape)
    condition = _fitted(where.array, shape)
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
        array = jnp.clip(array, 0, 100)
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
    return Value(lax.bitcast_convert_type(value.array, str(rng.choice(names))), True)


# -- structure


@operation(2)
def reshape(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    sizes = list(value.shape)
    count = int(np.prod(sizes))
    roll = rng.random()
    if roll < 0.3:
        return Value(value.array.reshape(-1), value.exact)
    if roll < 0.5 and value.rank < 13:
        at = int(rng.integers(0, value.rank + 1))
        return Value(jnp.expand_dims(value.array, at), value.exact)
    divisors = [n for n in range(2, 20) if count and count % n == 0]
    if not divisors:
        return Value(jnp.squeeze(value.array), value.exact)
    first = int(rng.choice(divisors))
    shape = (first, count // first) if rng.random() < 0.5 else (count // first, 1, first)
    return Value(value.array.reshape(shape), value.exact)


@operation(2)
def transpose(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    order = [int(d) for d in rng.permutation(value.rank)]
    return Value(jnp.transpose(value.array, order), value.exact)


@operation(1)
def broadcast(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    shape = [int(rng.choice([2, 3, 5])) if size == 1 else size for size in value.shape]
    if value.rank < 12:
        shape = [int(rng.choice([1, 2, 4])), *shape]
    if not small_enough(tuple(shape)):
        return None
    return Value(jnp.broadcast_to(value.array, shape), value.exact)


@operation(1)
def reverse(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    dims = [d for d in range(value.rank) if rng.random() < 0.5]
    return Value(lax.rev(value.array, dims), value.exact)


@operation(2)
def slices(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    starts, limits, steps = [], [], []
    for size in value.shape:
        start = int(rng.integers(0, size // 2 + 1))
        starts.append(start)
        limits.append(int(rng.integers(start, size + 1)) if rng.random() < 0.2 else size)
        steps.append(int(rng.integers(1, 4)))
    return Value(lax.slice(value.array, starts, limits, steps), value.exact)


@operation(1.5)
def pads(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    config, sizes = [], []
    for size in value.shape:
        low, high = (int(n) for n in rng.integers(-1 if size > 4 else 0, 3, 2))
        inside = int(rng.integers(0, 2))
        config.append((low, high, inside))
        sizes.append(size + low + high + max(0, size - 1) * inside)
    if not small_enough(tuple(sizes)) or min(sizes, default=0) < 0:
        return None
    return Value(lax.pad(value.array, np.array(1, value.array.dtype), config), value.exact)


@operation(1.5)
def joined(rng: np.random.Generator, pick: Pick) -> Value | None:
    a, b = _alike(rng, pick(), pick())
    if a.rank == 0:
        return Value(jnp.stack([a.array, _fitted(b.array, ())]), a.exact and b.exact)
    dim = int(rng.integers(0, a.rank))
    parts = [a.array, _fitted(b.array, a.shape)]
    if rng.random() < 0.3:
        parts.append(
            parts[0][tuple(slice(0, 1) if d == dim else slice(None) for d in range(a.rank))]
        )
    if a.array.size * 3 > MOST:
        return None
    return Value(jnp.concatenate(parts, dim), a.exact and b.exact)


@operation(1)
def rolled(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank:
        return None
    dim = int(rng.integers(0, value.rank))
    name = str(rng.choice(["roll", "tile", "repeat", "tril"]))
    if name == "roll":
        return Value(jnp.roll(value.array, int(rng.integers(-5, 6)), dim), value.exact)
    if name == "tril" and value.rank >= 2:
        return Value(jnp.tril(value.array, int(rng.integers(-2, 3))), value.exact)
    if value.array.size * 2 > MOST or value.rank > 8:
        return None
    if name == "tile":
        return Value(jnp.tile(value.array, (2,)), value.exact)
    return Value(jnp.repeat(value.array, 2, dim), value.exact)


# -- indices


def _indices(rng: np.random.Generator, count: int, shape: tuple[int, ...]) -> np.ndarray:
    low, high = (-count, count) if rng.random() < 0.3 else (0, count)
    if rng.random() < 0.15:  # beyond the ends
        low, high = low - 2, high + 2
    dtype = str(rng.choice(["int32", "int32", "int8", "uint32"]))
    numbers = rng.integers(low, max(high, low + 1), shape)
    return (numbers % max(count, 1) if dtype == "uint32" else numbers).astype(dtype)


@operation(2)
def taken(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank or 0 in value.shape:
        return None
    dim = int(rng.integers(0, value.rank))
    size = value.shape[dim]
    mode = str(rng.choice(["clip", "fill", "wrap", "promise_in_bounds"]))
    roll = rng.random()
    if roll < 0.4:
        index = _indices(rng, size, (int(rng.integers(0, 6)),) * int(rng.integers(0, 3)))
        if mode == "promise_in_bounds":
            index = np.abs(index) % size
        if value.array.size * max(1, index.size) > 4 * MOST:
            return None
        return Value(jnp.take(value.array, index, dim, mode=mode), value.exact)
    if roll < 0.7:
        shape = list(value.shape)
        shape[dim] = int(rng.integers(1, 5))
        index = np.clip(_indices(rng, size, tuple(shape)), 0, size - 1)
        return Value(jnp.take_along_axis(value.array, index, dim), value.exact)
    index = jnp.asarray(_indices(rng, size, ()))
    return Value(lax.dynamic_index_in_dim(value.array, index.astype(jnp.int32), dim), value.exact)


@operation(2)
def updated(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank or 0 in value.shape:
        return None
    name = str(rng.choice(["add", "max", "min", "set", "multiply"]))
    if value.kind in ("bool", "complex") and name != "set":
        return None
    count = int(rng.integers(1, 6))
    index = _indices(rng, value.shape[0], (count,))
    if name == "set":
        index = np.unique(index % value.shape[0])
    part = _fitted(pick_like(value), (len(index), *value.shape[1:]))
    reference = value.array.at[index]
    return Value(getattr(reference, name)(part), value.exact and name in ("max", "min", "set"))


def pick_like(value: Value) -> Any:
    """Numbers beside those of a value."""
    array = value.array[::-1]
    return jnp.logical_not(array) if value.kind == "bool" else array


@operation(1.5)
def moving_slice(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if 0 in value.shape:
        return None
    sizes = [int(rng.integers(1, size + 1)) for size in value.shape]
    starts = [jnp.int32(int(rng.integers(-2, size + 2))) for size in value.shape]
    part = lax.dynamic_slice(value.array, starts, sizes)
    if rng.random() < 0.5:
        return Value(part, value.exact)
    # Not a part of the same array: JAX's CPU may update it in place while it is still read.
    part = jnp.arange(part.size).astype(value.array.dtype).reshape(part.shape)
    back = [jnp.int32(int(rng.integers(0, size + 1))) for size in value.shape]
    return Value(lax.dynamic_update_slice(value.array, part, back), value.exact)


@operation(0.7)
def segments(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank or value.kind in ("bool", "complex"):
        return None
    ids = rng.integers(0, 4, value.shape[0]).astype(np.int32)
    name = str(rng.choice(["sum", "max", "min"]))
    if value.kind == "float" and name != "sum":
        return None
    return Value(getattr(jax.ops, f"segment_{name}")(value.array, ids, 4), False)
