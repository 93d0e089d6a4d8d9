"""Programs over several devices, run on xpu beside JAX's own CPU devices."""

from __future__ import annotations

import sys
from collections.abc import Callable
from typing import Any

import jax
import jax.numpy as jnp
import numpy as np
from jax import lax
from jax.sharding import AxisType, Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

COUNT = 4
PROGRAMS: dict[str, Callable[[Mesh, Mesh], Any]] = {}
_random = np.random.default_rng(0)


def array(*shape: int) -> np.ndarray:
    return _random.standard_normal(shape).astype(np.float32)


X, W, W2 = array(8, 8), array(8, 16), array(16, 4)
LARGE, TABLE, IMAGES, FILTER = array(64, 1024), array(32, 8), array(8, 8, 8, 4), array(3, 3, 4, 8)
PLACES = _random.integers(0, 32, (8, 4)).astype(np.int32)
LABELS = _random.integers(0, 4, (8,)).astype(np.int32)


def program(function: Callable[[Mesh, Mesh], Any]) -> Callable[[Mesh, Mesh], Any]:
    """Takes a mesh of one axis, and one of two."""
    PROGRAMS[function.__name__] = function
    return function


def put(value: Any, mesh: Mesh, *spec: Any) -> jax.Array:
    return jax.device_put(value, NamedSharding(mesh, P(*spec)))


def mapped(function: Callable[..., Any], mesh: Mesh, given: Any, taken: Any, **options: Any) -> Any:
    return jax.jit(jax.shard_map(function, mesh=mesh, in_specs=given, out_specs=taken, **options))


@program
def data_parallel(line: Mesh, grid: Mesh) -> Any:
    spread, whole = NamedSharding(line, P("d")), NamedSharding(line, P())
    function = jax.jit(lambda w, x: ((x @ w) ** 2).mean(), in_shardings=(whole, spread))
    return function(W, X)


@program
def tensor_parallel(line: Mesh, grid: Mesh) -> Any:
    return jax.jit(lambda x, w: jax.nn.relu(x @ w))(put(X, grid, None, "x"), put(W, grid, "x", "y"))


@program
def out_shardings(line: Mesh, grid: Mesh) -> Any:
    to = NamedSharding(grid, P(None, "x"))
    return jax.jit(lambda x: x + 1, out_shardings=to)(put(X, line, "d"))


@program
def constraints(line: Mesh, grid: Mesh) -> Any:
    def function(x):
        x = lax.with_sharding_constraint(x * 2, NamedSharding(grid, P("y", "x")))
        return lax.with_sharding_constraint(x + 1, NamedSharding(line, P(None, "d")))

    return jax.jit(function)(put(X, grid, "x", "y"))


@program
def softmax(line: Mesh, grid: Mesh) -> Any:
    both = jax.jit(lambda x, w: (jax.nn.softmax(x @ w), jax.nn.softmax(x, axis=0)))
    return both(put(X, grid, None, "x"), put(W, grid, "x", "y"))


@program
def reductions(line: Mesh, grid: Mesh) -> Any:
    def function(x):
        folds = jnp.max(x), jnp.min(x, 1), jnp.prod(x, 0), jnp.any(x > 2), jnp.all(x < 1, 0)
        return *folds, jnp.argmax(x, 0), x.astype(jnp.bfloat16).sum(0), x.astype(jnp.int8).sum(1)

    return jax.jit(function)(put(X, grid, "x", "y"))


@program
def shapes(line: Mesh, grid: Mesh) -> Any:
    def function(x):
        moved = x.T, x.reshape(4, 16), x.reshape(-1), x[::-1], x[1:5], jnp.roll(x, 3, 0)
        grown = jnp.pad(x, 1), jnp.concatenate([x, x]), x[None] + x[:, None]
        return *moved, *grown, jnp.arange(8) + x, x.reshape(2, 4, 8).transpose(1, 0, 2)

    return jax.jit(function)(put(X, grid, "x", "y"))


@program
def orders(line: Mesh, grid: Mesh) -> Any:
    return jax.jit(lambda x: (jnp.sort(x, 0), jnp.argsort(x, 1), jnp.cumsum(x, 0), jnp.median(x)))(
        put(X, grid, "x", "y")
    )


@program
def embedding(line: Mesh, grid: Mesh) -> Any:
    loss = jax.jit(jax.value_and_grad(lambda e, i: (e[i] ** 2).sum()))
    return loss(put(TABLE, grid, None, "y"), put(PLACES, grid, "x"))


@program
def convolution(line: Mesh, grid: Mesh) -> Any:
    def loss(k, x):
        names = ("NHWC", "HWIO", "NHWC")
        return jnp.tanh(
            lax.conv_general_dilated(x, k, (1, 1), "SAME", dimension_numbers=names)
        ).sum()

    return jax.jit(jax.value_and_grad(loss))(put(FILTER, line), put(IMAGES, line, "d"))


@program
def loops(line: Mesh, grid: Mesh) -> Any:
    def scan(x, w):
        return lax.scan(lambda c, _: (jnp.tanh(c @ w), c.sum()), x, None, length=3)

    def until(x):
        return lax.while_loop(lambda c: c[0].sum() < 1e3, lambda c: (c[0] * 2, c[1] + 1), (x, 0))

    def either(x):
        return lax.cond(x.sum() > 0, lambda y: y - y.mean(0), lambda y: y @ y.T, x)

    x = put(abs(X), grid, "x", "y")
    return jax.jit(scan)(x, put(X, grid, "y")), jax.jit(until)(x), jax.jit(either)(x)


@program
def random(line: Mesh, grid: Mesh) -> Any:
    to = NamedSharding(grid, P("x", "y"))
    key = put(np.array([0, 3], np.uint32), line)
    return jax.jit(lambda k: lax.with_sharding_constraint(jax.random.normal(k, (8, 8)), to))(key)


@program
def training(line: Mesh, grid: Mesh) -> Any:
    def loss(p, x, y):
        logits = jax.nn.log_softmax(jax.nn.gelu(x @ p["a"]) @ p["b"])
        return -jnp.mean(jnp.take_along_axis(logits, y[:, None], 1))

    def step(p, x, y):
        value, slope = jax.value_and_grad(loss)(p, x, y)
        return value, jax.tree.map(lambda a, b: a - 0.1 * b, p, slope)

    update, p = (
        jax.jit(step, donate_argnums=0),
        {"a": put(W, grid, None, "y"), "b": put(W2, grid, "y")},
    )
    for _ in range(3):
        value, p = update(p, put(X, grid, "x"), put(LABELS, grid, "x"))
    return value, p


@program
def collectives(line: Mesh, grid: Mesh) -> Any:
    def function(x):
        around = [(i, (i + 1) % COUNT) for i in range(COUNT)]
        same = lax.pmax(x, "d"), lax.pmin(x, "d"), lax.psum(x, "d"), lax.pmean(x, "d")
        return (
            *same,
            lax.all_gather(x, "d"),
            lax.all_gather(x, "d", axis=1, tiled=True),
            lax.psum_scatter(jnp.tile(x, (1, COUNT)), "d", scatter_dimension=1, tiled=True),
            lax.ppermute(x, "d", around),
            lax.ppermute(x, "d", [(0, 1)]),
            lax.all_to_all(x, "d", 1, 0, tiled=True),
            lax.all_to_all(x, "d", 0, 1, tiled=True),
            lax.axis_index("d")[None],
        )

    d = P("d")
    return mapped(function, line, d, (P(), P(), P(), P(), *[d] * 8))(W.reshape(16, 8))


@program
def collectives_of_a_grid(line: Mesh, grid: Mesh) -> Any:
    def function(x):
        number = lax.axis_index("x") * 10 + lax.axis_index("y")
        sums = lax.psum(x, "x"), lax.psum(x, ("x", "y"))
        swapped = lax.ppermute(x, "y", [(0, 1), (1, 0)])
        return *sums, lax.all_gather(x, "y", axis=1, tiled=True), number[None, None], swapped

    taken = (P(None, "y"), P(), P("x"), P("x", "y"), P("x", "y"))
    return mapped(function, grid, P("x", "y"), taken, check_vma=False)(X)


@program
def some_axes_by_hand(line: Mesh, grid: Mesh) -> Any:
    function = mapped(
        lambda x: lax.psum(jnp.tanh(x) @ x.T, "x"), grid, P("x"), P(), axis_names={"x"}
    )
    return function(put(X, grid, "x", "y"))


@program
def gradient_of_shard_map(line: Mesh, grid: Mesh) -> Any:
    loss = mapped(lambda w, x: lax.pmean(((x @ w) ** 2).mean(), "d"), line, (P(), P("d")), P())
    return jax.jit(jax.value_and_grad(loss))(W, X)


@program
def collectives_in_loops(line: Mesh, grid: Mesh) -> Any:
    around = [(i, (i + 1) % COUNT) for i in range(COUNT)]

    def ring(x):
        return lax.fori_loop(0, 3, lambda i, c: lax.ppermute(c, "d", around) + i, x)

    def until(x):
        return lax.while_loop(
            lambda c: lax.pmax(c, "d").sum() < 100.0, lambda c: c * 2 + lax.psum(c, "d"), abs(x)
        )

    def either(x):
        total = lax.psum(x.sum(), "d")
        return lax.cond(total > 0, lambda y: lax.psum(y, "d"), lambda y: lax.pmax(y, "d"), x)

    def own(x):
        return lax.cond(lax.axis_index("d") == 0, lambda y: y * 2, lambda y: y + 1, x)

    each = (ring, until, either, own)
    return [mapped(f, line, P("d"), P("d"), check_vma=False)(X) for f in each]


@program
def large_sums(line: Mesh, grid: Mesh) -> Any:
    total = mapped(lambda x: lax.psum(x, "d"), line, P("d"), P())
    return jax.jit(lambda x: (x @ x.T, x.sum(0)))(put(LARGE, grid, None, "y")), total(LARGE)


@program
def pmap(line: Mesh, grid: Mesh) -> Any:
    def function(x):
        return lax.psum(x, "i"), lax.all_gather(x, "i"), x * lax.axis_index("i")

    devices = list(line.devices.flat)
    return jax.pmap(function, axis_name="i", devices=devices)(X.reshape(COUNT, -1))


def meshes(platform: str) -> tuple[Mesh, Mesh]:
    devices = jax.devices(platform)[:COUNT]
    auto = AxisType.Auto
    return (
        jax.make_mesh((COUNT,), ("d",), axis_types=(auto,), devices=devices),
        jax.make_mesh((2, COUNT // 2), ("x", "y"), axis_types=(auto, auto), devices=devices),
    )


def compare(name: str) -> None:
    """One program on both, values and shardings."""
    with jax.default_device(jax.devices("cpu")[0]):
        expected = PROGRAMS[name](*meshes("cpu"))
    got = PROGRAMS[name](*meshes("xpu"))
    for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(expected), strict=True):
        assert (a.shape, a.dtype) == (b.shape, b.dtype), (name, a, b)
        assert all(device.platform == "xpu" for device in a.devices()), (name, a.devices())
        tolerance = 2e-2 if a.dtype == jnp.bfloat16 else 2e-4
        a, b = (np.asarray(value).astype(np.float64) for value in (a, b))
        np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance, err_msg=name)


if __name__ == "__main__":
    jax.config.update("jax_num_cpu_devices", COUNT)
    for wanted in sys.argv[1:] or PROGRAMS:
        compare(wanted)
        print(wanted, flush=True)
