"""Matrix products, linear layers and convolutions beside JAX's CPU backend."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from functools import partial
from typing import Any

import jax
import jax.numpy as jnp
from cpu_peer import Inputs, case
from xpu_bench import Case

DTYPES = {"f32": ("float32", ">= 1.0"), "bf16": ("bfloat16", ">= 1.5")}
GEMMS = (
    (512, 512, 512),
    (1024, 1024, 1024),
    (2048, 768, 3072),
    (128, 4096, 4096),
    (2048, 50257, 768),
)
LINEARS = ((2048, 768, 3072), (256, 768, 768), (1, 2048, 8192))
# Products of many matrices, as attention has them.
BATCHED = {
    "bqd,bdk->bqk": ((96, 256, 64), (96, 64, 256)),
    "bqhd,bkhd->bhqk": ((8, 256, 12, 64), (8, 256, 12, 64)),
    "bhqk,bkhd->bqhd": ((8, 12, 256, 256), (8, 256, 12, 64)),
}
CONVOLUTIONS = (
    # batch, channels, size, filters, kernel, stride, groups
    (8, 3, 224, 64, 7, 2, 1),
    (8, 64, 56, 64, 3, 1, 1),
    (8, 128, 28, 128, 3, 1, 1),
    (8, 256, 14, 1024, 1, 1, 1),
    (8, 96, 56, 96, 7, 1, 96),
)
# Of which a call takes seconds.
SLOW = ("mm 2048x50257x768", "conv 8x96x56 96x7/1 g96 backward")


def _normal(dtype: str, *shapes: tuple[int, ...]) -> Callable[[Inputs], tuple]:
    return lambda inputs: tuple(inputs.normal(*shape, dtype=dtype) for shape in shapes)


def _with_gradients(call: Callable) -> Callable:
    """The gradients of what the call gives, itself as the cotangent."""

    def both(*inputs: Any) -> tuple:
        result, backward = jax.vjp(call, *inputs)
        return backward(result)

    return both


def linear(x: Any, weight: Any, bias: Any) -> Any:
    return x @ weight + bias


def convolution(stride: int, groups: int) -> Callable:
    """Channels last, as flax has it."""

    def convolve(x: Any, kernel: Any) -> Any:
        return jax.lax.conv_general_dilated(
            x,
            kernel,
            (stride, stride),
            "SAME",
            dimension_numbers=("NHWC", "HWIO", "NHWC"),
            feature_group_count=groups,
        )

    return convolve


def products() -> Iterator[tuple[str, Callable, tuple]]:
    """Name, function and shapes of its inputs."""
    for m, n, k in GEMMS:
        yield f"mm {m}x{n}x{k}", jnp.matmul, ((m, k), (k, n))
    for subscripts, shapes in BATCHED.items():
        yield f"einsum {subscripts} of 96", partial(jnp.einsum, subscripts), shapes
    for m, n, k in LINEARS:
        yield f"linear {m}x{n}x{k}", linear, ((m, k), (k, n), (n,))
    m, n, k = LINEARS[0]
    yield f"linear {m}x{n}x{k} backward", _with_gradients(linear), ((m, k), (k, n), (n,))
    for batch, channels, size, filters, kernel, stride, groups in CONVOLUTIONS:
        name = f"conv {batch}x{channels}x{size} {filters}x{kernel}/{stride} g{groups}"
        call = convolution(stride, groups)
        shapes = (batch, size, size, channels), (kernel, kernel, channels // groups, filters)
        yield name, call, shapes
        yield f"{name} backward", _with_gradients(call), shapes


def cases() -> Iterator[Case]:
    for short, (dtype, bar) in DTYPES.items():
        for name, call, shapes in products():
            few = 3 if name in SLOW else None
            yield case(f"{name} {short}", call, _normal(dtype, *shapes), bar, repetitions=few)
