"""Programs for many devices, run by one."""

import jax
import numpy as np
from jax import lax
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

X = np.arange(32, dtype=np.float32).reshape(8, 4)


def test_shard_map(xpu):
    def body(x):
        parts = [
            lax.psum(x, "a"),
            lax.pmax(x, "a"),
            lax.all_gather(x, "a", tiled=True),
            lax.psum_scatter(x, "a", tiled=True),
            lax.ppermute(x, "a", [(0, 0)]),
            lax.all_to_all(x[None], "a", 0, 0)[0],
        ]
        return sum(parts) + lax.axis_index("a")

    mesh = Mesh(np.array([xpu]), ("a",))
    run = jax.jit(jax.shard_map(body, mesh=mesh, in_specs=P("a"), out_specs=P("a")))
    np.testing.assert_array_equal(run(X), 6 * X)


def test_nobody_sends(xpu):
    mesh = Mesh(np.array([xpu]), ("a",))
    run = jax.shard_map(
        lambda x: lax.ppermute(x, "a", []), mesh=mesh, in_specs=P("a"), out_specs=P("a")
    )
    np.testing.assert_array_equal(jax.jit(run)(X), 0 * X)


def test_constraints(xpu):
    everywhere = NamedSharding(Mesh(np.array([xpu]), ("a",)), P("a"))

    @jax.jit
    def run(x):
        return lax.with_sharding_constraint(x * 2, everywhere) + 1

    np.testing.assert_array_equal(run(jax.device_put(X, everywhere)), X * 2 + 1)


def test_pmap(xpu):
    run = jax.pmap(lambda x: lax.psum(x, "i") + lax.axis_index("i"), axis_name="i", devices=[xpu])
    np.testing.assert_array_equal(run(X[None]), X[None])
