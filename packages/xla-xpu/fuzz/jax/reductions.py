"""Reductions, orders, products and what else mixes elements."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from operations import Pick, fitted, operation, with_one_shape
from values import MOST, Value, bounded, real_float


def _dims(rng: np.random.Generator, rank: int) -> tuple[int, ...]:
    return tuple(d for d in range(rank) if rng.random() < 0.5)


@operation(3)
def reduced(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    dims = _dims(rng, value.rank)
    keep = bool(rng.random() < 0.4)
    array = value.array
    empty = any(value.shape[d] == 0 for d in dims)
    if value.kind == "bool":
        name = str(rng.choice(["any", "all", "sum"]))
        return Value(getattr(jnp, name)(array, axis=dims, keepdims=keep), value.exact)
    if value.kind == "int":
        names = ["sum", "prod", *([] if empty else ["max", "min"])]
        return Value(
            getattr(jnp, str(rng.choice(names)))(array, axis=dims, keepdims=keep), value.exact
        )
    if value.kind == "complex":
        return Value(jnp.sum(array, axis=dims, keepdims=keep), False)
    names = ["sum", "mean", "prod", *([] if empty else ["max", "min", "logsumexp", "var"])]
    name = str(rng.choice(names))
    if name == "prod":
        array = bounded(array) / 2
    if name == "logsumexp":
        return Value(jax.nn.logsumexp(bounded(array), axis=dims, keepdims=keep), False)
    result = getattr(jnp, name)(array, axis=dims, keepdims=keep)
    return Value(result, value.exact and name in ("max", "min"))


@operation(1)
def places(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.exact or not value.rank or value.kind == "complex":
        return None
    dim = int(rng.integers(0, value.rank))
    if value.shape[dim] == 0:
        return None
    return Value((jnp.argmax if rng.random() < 0.5 else jnp.argmin)(value.array, dim), True)


@operation(1.5)
def cumulative(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank or value.kind == "bool":
        return None
    dim, reverse = int(rng.integers(0, value.rank)), bool(rng.random() < 0.3)
    if value.kind == "complex":
        return Value(lax.cumsum(value.array, dim, reverse), False)
    name = str(rng.choice(["cumsum", "cumprod", "cummax", "cummin", "cumlogsumexp"]))
    array = value.array
    if name == "cumlogsumexp" and value.kind != "float":
        name = "cummax"
    if name in ("cumprod", "cumlogsumexp"):
        array = bounded(array)
    result = getattr(lax, name)(array, dim, reverse)
    return Value(result, value.exact and (value.kind == "int" or name in ("cummax", "cummin")))


@operation(1.5)
def ordered(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank or value.kind == "complex":
        return None
    dim = int(rng.integers(0, value.rank))
    roll = rng.random()
    if roll < 0.4 or not value.exact:
        return Value(jnp.sort(value.array, dim), value.exact)
    if roll < 0.7:
        return Value(jnp.argsort(value.array, dim), True)
    if value.kind == "bool" or value.shape[-1] == 0:
        return None
    numbers, index = lax.top_k(value.array, int(rng.integers(1, value.shape[-1] + 1)))
    return Value(numbers if roll < 0.85 else index, True)


@operation(1)
def windows(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if value.kind in ("bool", "complex") or not 1 <= value.rank <= 4 or 0 in value.shape:
        return None
    sizes = [int(rng.integers(1, min(size, 3) + 1)) for size in value.shape]
    strides = [int(rng.integers(1, 3)) for _ in value.shape]
    padding = str(rng.choice(["SAME", "VALID"]))
    if rng.random() < 0.5:
        zero = np.array(0, value.array.dtype)
        result = lax.reduce_window(value.array, zero, lax.add, sizes, strides, padding)
        return Value(result, value.kind == "int" and value.exact)
    low = np.array(-jnp.inf if value.kind == "float" else jnp.iinfo(value.array.dtype).min)
    low = low.astype(value.array.dtype)
    return Value(lax.reduce_window(value.array, low, lax.max, sizes, strides, padding), value.exact)


@operation(1)
def own_reduction(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = real_float(pick())
    dims = _dims(rng, value.rank)
    array = bounded(value.array)
    zero = np.array(0, array.dtype)
    if rng.random() < 0.5:
        # Small numbers: products of thousands would be infinite, and NaN or not by the order of the sum.
        count = max(1, int(np.prod([value.shape[d] for d in dims])))
        result = lax.reduce(array / count, zero, lambda a, b: a + b + a * b / 64, dims)
        return Value(result, False)
    if 0 in (value.shape[d] for d in dims):
        return None
    lowest = np.array(-np.inf, array.dtype)
    pair = lax.reduce(
        (array, array), (zero, lowest), lambda a, b: (a[0] + b[0], jnp.maximum(a[1], b[1])), dims
    )
    return Value(pair[0] + pair[1], False)


@operation(2.5)
def product(rng: np.random.Generator, pick: Pick) -> Value | None:
    a, b = with_one_shape(rng, pick(), pick())
    if a.kind == "bool" or max(a.rank, b.rank) > 5:
        return None
    if a.kind != "int":
        a, b = (Value(bounded(v.array), False) for v in (a, b))
    exact = a.exact and b.exact and a.kind == "int"
    roll = rng.random()
    if roll < 0.35 and a.rank:
        dim = int(rng.integers(0, a.rank))
        columns = int(rng.integers(0, 9))
        other = fitted(b.array, (a.shape[dim], columns))
        if a.array.size * max(1, columns) > 8 * MOST:
            return None
        contracted = (((dim,), (0,)), ((), ()))
        return Value(lax.dot_general(a.array, other, contracted), exact)
    if roll < 0.7 and a.rank >= 2:
        batch, size = a.shape[:-1], a.shape[-1]
        other = fitted(b.array, (*batch[:-1], size, int(rng.integers(1, 8))))
        return Value(jnp.matmul(a.array, other), exact)
    if a.rank:
        other = fitted(b.array, a.shape)
        return Value(jnp.einsum("...i,...i->...", a.array, other), exact)
    return None


@operation(1)
def convolution(rng: np.random.Generator, pick: Pick) -> Value | None:
    a, b = with_one_shape(rng, pick(), pick())
    if a.kind == "bool" or a.array.size == 0:
        return None
    spatial = int(rng.integers(1, 3))
    groups = int(rng.choice([1, 1, 2]))
    shape = (2, 2 * groups, *(int(n) for n in rng.integers(1, 9, spatial)))
    window = tuple(int(n) for n in rng.integers(1, 4, spatial))
    x = fitted(a.array, shape)
    w = fitted(b.array, (2 * groups, 2, *window))
    if a.kind != "int":
        x, w = bounded(x), bounded(w)
    result = lax.conv_general_dilated(
        x,
        w,
        [int(n) for n in rng.integers(1, 3, spatial)],
        [tuple(int(n) for n in rng.integers(0, 4, 2)) for _ in range(spatial)],
        [int(n) for n in rng.integers(1, 3, spatial)],
        [int(n) for n in rng.integers(1, 3, spatial)],
        feature_group_count=groups,
    )
    return Value(result, a.kind == "int" and a.exact and b.exact)


@operation(0.7)
def transform(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = pick()
    if not value.rank or value.array.size == 0 or value.array.dtype.itemsize == 1:
        return None
    array = value.array
    if value.kind != "complex":
        array = real_float(value).array.astype(jnp.float32)
    array = bounded(array)
    names = ["fft", "ifft", "rfft"] if value.kind != "complex" else ["fft", "ifft", "irfft"]
    if value.shape[-1] < 2:
        names = ["fft"]
    return Value(getattr(jnp.fft, str(rng.choice(names)))(array), False)


@operation(0.7)
def softmax(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = real_float(pick())
    if not value.rank or 0 in value.shape:
        return None
    dim = int(rng.integers(0, value.rank))
    function = jax.nn.softmax if rng.random() < 0.5 else jax.nn.log_softmax
    return Value(function(value.array, dim), False)


@operation(0.5)
def factored(rng: np.random.Generator, pick: Pick) -> Value | None:
    value = real_float(pick())
    size = int(rng.integers(1, 7))
    matrix = bounded(fitted(value.array, (2, size, size)).astype(jnp.float32))
    spd = matrix @ jnp.swapaxes(matrix, -1, -2) + size * 4 * jnp.eye(size, dtype=jnp.float32)
    roll = rng.random()
    if roll < 0.4:
        return Value(jnp.linalg.cholesky(spd), False)
    if roll < 0.7:
        return Value(jnp.linalg.solve(spd, matrix), False)
    return Value(jnp.linalg.inv(spd), False)


@operation(0.7)
def drawn(rng: np.random.Generator, pick: Pick) -> Value | None:
    key = jax.random.key(int(rng.integers(0, 1000)))
    shape = tuple(int(n) for n in rng.integers(1, 6, int(rng.integers(0, 4))))
    roll = rng.random()
    if roll < 0.4:
        return Value(jax.random.bits(key, shape, str(rng.choice(["uint32", "uint8"]))), True)
    if roll < 0.7:
        return Value(jax.random.uniform(key, shape), True)
    return Value(jax.random.normal(key, shape), False)
