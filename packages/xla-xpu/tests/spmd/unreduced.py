"""Programs with arrays of which each device has a summand, run on xpu beside JAX's own CPU devices."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import PartitionSpec as P

PROGRAMS: dict[str, Callable[[], Any]] = {}
A, B = (
    np.arange(32.0, dtype="float32").reshape(4, 8),
    np.arange(48.0, dtype="float32").reshape(8, 6),
)
X = P(unreduced={"x"})
MATRIX = P(None, None, unreduced={"x"})


def program(function: Callable[[], Any]) -> Callable[[], Any]:
    """A function without arguments, in the scope of a mesh with the axes x and y, of two devices each."""
    PROGRAMS[function.__name__] = function
    return function


def product(a: Any, b: Any, spec: P = MATRIX) -> Any:
    return jnp.einsum("ij,jk->ik", a, b, out_sharding=spec)


def operands() -> tuple[jax.Array, jax.Array]:
    return jax.device_put(A, P(None, "x")), jax.device_put(B, P("x", None))


@program
def products() -> Any:
    a, b = jax.device_put(A, P("y", "x")), jax.device_put(B, P("x", None))
    return (
        jax.jit(product)(*operands()),
        jax.jit(lambda a, b: product(a, b, P("y", None, unreduced={"x"})))(a, b),
    )


@program
def products_over_two_axes() -> Any:
    a = jax.device_put(A, P(None, ("x", "y")))
    b = jax.device_put(B, P(("x", "y"), None))
    both = P(None, None, unreduced={"x", "y"})
    y = jax.jit(lambda a, b: product(a, b, both))(a, b)
    return (
        y,
        jax.jit(lambda y: jax.reshard(y, MATRIX))(y),
        jax.jit(lambda y: jax.reshard(y, P()))(y),
    )


@program
def linear_operations() -> Any:
    r = jax.device_put(np.arange(6.0, dtype="float32"), P(None, reduced={"x"}))

    def function(a, b, r):
        y = product(a, b)
        z = (y * jnp.broadcast_to(r, (4, 6))).T + y.T
        return z, z.sum(0), z.sum(), jax.reshard(z, P()), jax.reshard(z.sum(), P())

    return jax.jit(function)(*operands(), r)


@program
def one_by_one() -> Any:
    y = jax.jit(product)(*operands())
    return y + y, (y + y).T, y.sum(1), jax.reshard(y, P("x", None)), jax.reshard(y, P())


@program
def summands_of_shard_map() -> Any:
    given = jax.device_put(np.arange(8), P("x"))
    as_summands = jax.shard_map(
        lambda x: lax.pcast(x, "x", to="unreduced"), in_specs=P("x"), out_specs=X
    )
    total = jax.shard_map(lambda x: lax.psum(x, "x"), in_specs=X, out_specs=P())
    rows = jax.shard_map(
        lambda x: lax.psum_scatter(x, "x", tiled=True), in_specs=X, out_specs=P("x")
    )
    y = jax.jit(as_summands)(given)
    return y, jax.jit(total)(y), jax.jit(rows)(y), jax.jit(lambda x: total(as_summands(x)))(given)


@program
def summands_seen_as_arrays() -> Any:
    def view(given: P, taken: P) -> Any:
        function = jax.shard_map(lambda x: x, in_specs=given, out_specs=taken, check_vma=False)
        return jax.jit(function)

    parts = view(P("x"), X)(jax.device_put(np.arange(8.0), P("x")))
    same = view(P(), X)(jax.device_put(np.arange(8.0), P()))
    return parts, view(X, P("x"))(parts), view(X, P())(same), same, jax.reshard(same, P())


@program
def made_of_others() -> Any:
    whole, spread = jax.device_put(A, P()), jax.device_put(A, P("x", "y"))
    row = jax.device_put(np.arange(8.0), P("y"))

    def to(spec: P) -> Any:
        return jax.jit(lambda x: jax.reshard(x, spec))

    return (
        to(MATRIX)(whole),
        to(P(None, "y", unreduced={"x"}))(spread),
        to(P(None, None, unreduced={"x", "y"}))(spread),
        to(P("x", unreduced={"y"}))(row),
        to(P(unreduced={"x"}))(jax.device_put(np.float32(3), P())),
    )


@program
def gradients() -> Any:
    w = jax.device_put(np.arange(12.0, dtype="float32").reshape(6, 2), P(None, None, reduced={"x"}))
    x = jax.device_put(B, P("x", None))
    slope = jax.jit(jax.grad(lambda w: ((x @ w) ** 2).sum()))(w)
    mapped = jax.shard_map(lambda x, w: x @ w, out_specs=P("x", None))
    other = jax.jit(jax.grad(lambda w: (mapped(x, w) ** 2).sum()))(w)
    return slope, other, jax.reshard(slope, P()), jax.reshard(other, P())


@program
def loops() -> Any:
    return jax.jit(lambda y: lax.fori_loop(0, 3, lambda i, c: c + c, y))(
        jax.jit(product)(*operands())
    )


def compare(name: str) -> None:
    """One program on both, device by device."""
    results = []
    for platform in ("cpu", "xpu"):
        devices = jax.devices(platform)[:4]
        with jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"), devices=devices)):
            results.append(jax.tree.leaves(PROGRAMS[name]()))
    for index, (expected, got) in enumerate(zip(*results, strict=True)):
        assert got.sharding.spec == expected.sharding.spec, (name, index, got.sharding)
        shards = zip(got.addressable_shards, expected.addressable_shards, strict=True)
        for device, (part, other) in enumerate(shards):
            np.testing.assert_allclose(
                part.data, other.data, rtol=1e-5, err_msg=f"{name}[{index}] of device {device}"
            )
