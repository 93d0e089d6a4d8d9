"""Small networks, trained with JAX in f32 and bf16, and common functions of jax.numpy."""

from __future__ import annotations

from functools import partial

import jax
import jax.numpy as jnp

jax.config.update("jax_platforms", "xpu")


def perceptron(weights, x):
    """Return the logits of linear layers."""
    for w, b in weights[:-1]:
        x = jax.nn.gelu(x @ w + b)
    w, b = weights[-1]
    return x @ w + b


def transformer(p, words):
    """Return the logits of a block of attention."""
    x = p["words"][words]

    def norm(x):
        return (x - x.mean(-1, keepdims=True)) * jax.lax.rsqrt(x.var(-1, keepdims=True) + 1e-5)

    q, k, v = jnp.split(norm(x) @ p["qkv"], 3, -1)
    scores = jnp.einsum("btd,bsd->bts", q, k) / 8
    scores = jnp.where(jnp.tril(jnp.ones(scores.shape[1:], bool)), scores, -1e9)
    x = x + jax.nn.softmax(scores) @ v @ p["out"]
    return (x + jax.nn.gelu(norm(x) @ p["up"]) @ p["down"]) @ p["words"].T


def convolution(p, x):
    """Return the logits of two convolutions."""
    for w in p["layers"]:
        x = jax.nn.relu(
            jax.lax.conv_general_dilated(
                x, w, (2, 2), "SAME", dimension_numbers=("NHWC", "HWIO", "NHWC")
            )
        )
    return x.mean((1, 2)) @ p["head"]


def loss(f, p, x, y):
    """Return the cross entropy."""
    logits = jax.nn.log_softmax(f(p, x).astype(jnp.float32))
    return -jnp.take_along_axis(logits, y[..., None], -1).mean()


SIZES = {
    "words": (128, 64),
    "qkv": (64, 192),
    "out": (64, 64),
    "up": (64, 256),
    "down": (256, 64),
}


def normal(dtype, *shape):
    """Return random weights."""
    return jax.random.normal(jax.random.key(0), shape, dtype) * 0.02


def train_perceptron(dtype):
    """Train linear layers."""
    normal_ = partial(normal, dtype)
    p = [(normal_(64, 128), normal_(128)), (normal_(128, 10), normal_(10))]
    train(perceptron, p, normal_(8, 64), jnp.zeros(8, jnp.int32))


def train_transformer(dtype):
    """Train a block of attention."""
    words = jnp.zeros((2, 16), jnp.int32)
    train(transformer, {name: normal(dtype, *size) for name, size in SIZES.items()}, words, words)


def train_convolution(dtype):
    """Train two convolutions."""
    normal_ = partial(normal, dtype)
    p = {"layers": [normal_(3, 3, 3, 16), normal_(3, 3, 16, 32)], "head": normal_(32, 10)}
    train(convolution, p, normal_(8, 32, 32, 3), jnp.zeros(8, jnp.int32))


def train(f, p, x, y):
    """Make a step, then ask the network."""

    @jax.jit
    def step(p, x, y):
        gradients = jax.grad(lambda p: loss(f, p, x, y))(p)
        return jax.tree.map(lambda w, g: w - 0.1 * g, p, gradients)

    jax.block_until_ready(step(p, x, y))
    jax.block_until_ready(jax.jit(f)(p, x))


FUNCTIONS = (
    *(jnp.sum, jnp.mean, jnp.max, jnp.argmax, jnp.sort, jnp.cumsum, jnp.exp, jnp.linalg.norm),
    jnp.transpose,
)


def call_functions(dtype):
    """Call common functions."""
    x = normal(dtype, 64, 64)
    for function in FUNCTIONS:
        jax.block_until_ready(function(x))
    jax.block_until_ready(
        (x + 1, x * x, x @ x, x[:3], jnp.concatenate((x, x)), x.astype(jnp.float32), x > 0)
    )


CASES = {
    f"{case.__name__} {dtype.__name__}": partial(case, dtype)
    for dtype in (jnp.float32, jnp.bfloat16)
    for case in (train_perceptron, train_transformer, train_convolution, call_functions)
}
