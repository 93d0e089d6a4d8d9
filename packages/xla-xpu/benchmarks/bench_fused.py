"""What JAX programs fuse, on 1 M to 16 M elements, beside JAX's CPU backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any, NamedTuple

import jax
import jax.numpy as jnp
from cpu_peer import Inputs, case
from training import adam_update, momentum_update
from xpu_bench import Case, Mean

M = 2**20


class Pattern(NamedTuple):
    name: str
    call: Callable
    make: Callable[[Inputs], tuple]


def _normal(*shapes: tuple[int, ...], dtype: str = "float32") -> Callable[[Inputs], tuple]:
    return lambda inputs: tuple(inputs.normal(*shape, dtype=dtype) for shape in shapes)


def cross_entropy(scores: Any, labels: Any) -> Any:
    """The mean loss and its gradient."""

    def loss(scores: Any) -> Any:
        shares = jax.nn.log_softmax(scores.astype(jnp.float32))
        return -jnp.take_along_axis(shares, labels[:, None], 1).mean()

    return jax.value_and_grad(loss)(scores)


def layer_norm(x: Any, scale: Any, bias: Any) -> Any:
    mean, variance = x.mean(-1, keepdims=True), x.var(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias


def layer_norm_gradient(x: Any, scale: Any, bias: Any, wanted: Any) -> Any:
    def loss(*inputs: Any) -> Any:
        return (layer_norm(*inputs) * wanted).sum()

    return jax.grad(loss, (0, 1, 2))(x, scale, bias)


def rms_norm(x: Any, scale: Any) -> Any:
    wide = x.astype("float32")
    mean = (wide**2).mean(-1, keepdims=True)
    return (wide * jax.lax.rsqrt(mean + 1e-6)).astype(x.dtype) * scale


def add_dropout(x: Any, residual: Any, key: Any) -> Any:
    return residual + jnp.where(jax.random.bernoulli(key, 0.9, x.shape), x / 0.9, 0)


def batch_norm(x: Any, scale: Any, bias: Any) -> tuple:
    mean, variance = x.mean((0, 1, 2)), x.var((0, 1, 2))
    return (x - mean) * jax.lax.rsqrt(variance + 1e-5) * scale + bias, mean, variance


def clip_by_norm(tree: list) -> list:
    """Arrays of a tree made shorter where all of them together are longer than 1."""
    norm = jnp.sqrt(sum((leaf**2).sum() for leaf in tree))
    factor = jnp.minimum(1, 1 / norm)
    return [leaf * factor for leaf in tree]


def black_scholes(price: Any, strike: Any, time: Any) -> tuple:
    cdf = jax.scipy.stats.norm.cdf
    price, strike, time = 100 + 10 * price, 100 + 10 * strike, 0.1 + time**2
    spread = 0.2 * jnp.sqrt(time)
    first = (jnp.log(price / strike) + (0.05 + 0.02) * time) / spread
    discounted = strike * jnp.exp(-0.05 * time)
    call = price * cdf(first) - discounted * cdf(first - spread)
    return call, call - price + discounted


def mandelbrot(x: Any, y: Any) -> Any:
    """How many of 20 rounds each point stays near."""

    def body(_: Any, carry: tuple) -> tuple:
        a, b, rounds = carry
        near = a * a + b * b < 4
        return (
            jnp.where(near, a * a - b * b + x, a),
            jnp.where(near, 2 * a * b + y, b),
            rounds + near,
        )

    rounds = jnp.zeros(x.shape, "int32")
    return jax.lax.fori_loop(0, 20, body, (x, y, rounds))[2]


def squared_error(weight: Any, bias: Any, x: Any, y: Any) -> Any:
    """The mean squared error of a line through each column, and its gradients."""

    def loss(weight: Any, bias: Any) -> Any:
        return ((jnp.tanh(x * weight + bias) - y) ** 2).mean()

    return jax.value_and_grad(loss, (0, 1))(weight, bias)


def rotary(x: Any) -> Any:
    """Rotary embedding of batch, length, heads, size of a head."""
    half = x.shape[-1] // 2
    rates = 10000.0 ** (-jnp.arange(half) / half)
    angle = (jnp.arange(x.shape[1])[:, None] * rates)[:, None]
    cos, sin = jnp.cos(angle), jnp.sin(angle)
    a, b = x[..., :half], x[..., half:]
    return jnp.concatenate([a * cos - b * sin, b * cos + a * sin], -1).astype(x.dtype)


def causal_softmax(scores: Any) -> Any:
    allowed = jnp.tril(jnp.ones(scores.shape[-2:], bool))
    return jax.nn.softmax(jnp.where(allowed, scores * 0.125, -jnp.inf))


def normalize_images(images: Any, mean: Any, spread: Any) -> Any:
    """Bytes with channels last to floats with channels first."""
    return ((images.astype("float32") / 255 - mean) / spread).transpose(0, 3, 1, 2)


def quantize(x: Any) -> tuple:
    """Rows as eight bits with a scale, and what they stand for."""
    scale = abs(x).max(1, keepdims=True) / 127
    bits = jnp.clip(jnp.round(x / scale), -127, 127).astype("int8")
    return bits, scale, bits.astype("float32") * scale


SQUARE = _normal((4096, 4096))
NORM = _normal((16384, 768), (768,), (768,))
TREE = ((1024, 1024), (1024,)) * 6
PATTERNS = (
    Pattern("gelu 16M", jax.nn.gelu, _normal((16 * M,))),
    Pattern(
        "swish times gate 8M bf16",
        lambda x, gate: jax.nn.silu(x) * gate,
        _normal((4096, 2048), (4096, 2048), dtype="bfloat16"),
    ),
    Pattern("softmax of rows 16M", jax.nn.softmax, SQUARE),
    Pattern(
        "cross entropy and gradient 16M bf16",
        cross_entropy,
        lambda i: (i.normal(512, 32000, dtype="bfloat16"), i.integers(32000, 512)),
    ),
    Pattern("layer norm 12M", layer_norm, NORM),
    Pattern(
        "layer norm's gradient 12M",
        layer_norm_gradient,
        _normal((16384, 768), (768,), (768,), (16384, 768)),
    ),
    Pattern("RMS norm 16M bf16", rms_norm, _normal((4096, 4096), (4096,), dtype="bfloat16")),
    Pattern(
        "residual and dropout 8M bf16",
        add_dropout,
        lambda i: (*_normal((8 * M,), (8 * M,), dtype="bfloat16")(i), jax.random.key(0)),
    ),
    Pattern("batch norm in training 6M", batch_norm, _normal((8, 112, 112, 64), (64,), (64,))),
    Pattern(
        "Adam 4M",
        lambda w, g, m, s: adam_update(w, g, m, s**2, 10.0),
        _normal(*[(4 * M,)] * 4),
    ),
    Pattern(
        "momentum over 12 arrays 6M",
        lambda *a: momentum_update(a[::3], a[1::3], a[2::3]),
        _normal(*(shape for shape in TREE for _ in range(3))),
    ),
    Pattern(
        "clip 12 arrays by their norm 6M", lambda *tree: clip_by_norm(list(tree)), _normal(*TREE)
    ),
    Pattern("Black and Scholes 4M", black_scholes, _normal(*[(4 * M,)] * 3)),
    Pattern("Mandelbrot 1M", mandelbrot, _normal((M,), (M,))),
    Pattern(
        "squared error and gradient 16M",
        squared_error,
        _normal((4096,), (4096,), (4096, 4096), (4096, 4096)),
    ),
    Pattern("variance of columns 16M", lambda x: x.var(0), SQUARE),
    Pattern("sum of columns of exp(-x^2) 16M", lambda x: jnp.exp(-(x**2)).sum(0), SQUARE),
    Pattern(
        "argmax of rows of x + y 8M",
        lambda x, y: (x + y).argmax(1),
        _normal((256, 32000), (32000,)),
    ),
    Pattern("cumulative sum of exp(x) 4M", lambda x: jnp.exp(x).cumsum(1), _normal((1024, 4096))),
    Pattern("rotary embedding 8M bf16", rotary, _normal((8, 1024, 16, 64), dtype="bfloat16")),
    Pattern("causal softmax 16M bf16", causal_softmax, _normal((16, 1024, 1024), dtype="bfloat16")),
    Pattern(
        "one-hot times rows 4M",
        lambda x, labels: (jax.nn.one_hot(labels, x.shape[1]) * x).sum(1),
        lambda i: (i.normal(4096, 1000), i.integers(1000, 4096)),
    ),
    Pattern(
        "normal numbers 4M",
        lambda key: jax.random.normal(key, (4 * M,)),
        lambda i: (jax.random.key(0),),
    ),
    Pattern(
        "images of bytes 2M",
        normalize_images,
        lambda i: (i.integers(256, 16, 224, 224, 3, dtype="uint8"), *_normal((3,), (3,))(i)),
    ),
    Pattern(
        "pairwise distances 16M",
        lambda a, b: jnp.sqrt(((a[:, None] - b[None]) ** 2).sum(-1)),
        _normal((1024, 16), (1024, 16)),
    ),
    Pattern("quantize and back 16M", quantize, SQUARE),
)


def cases() -> Iterator[Case | Mean]:
    for pattern in PATTERNS:
        yield case(f"fused: {pattern.name}", pattern.call, pattern.make, ">= 1.0")
    yield Mean("fused kernels, geometric mean", "fused: *", ">= 1.3")
