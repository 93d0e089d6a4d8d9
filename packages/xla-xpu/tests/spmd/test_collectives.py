"""Programs for many devices, run by one."""

from pathlib import Path

import jax
import numpy as np
import pytest
from jax import lax
from jax._src.lax import parallel
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


def test_one_of_all(xpu):
    """JAX lowers it for the platforms it lists."""
    mesh = Mesh(np.array([xpu]), ("a",))
    run = jax.shard_map(
        lambda x: lax.pbroadcast(x, "a", 0), mesh=mesh, in_specs=P("a"), out_specs=P("a")
    )
    np.testing.assert_array_equal(jax.jit(run)(X), X)


@pytest.mark.values
@pytest.mark.cpu_device
def test_begun_here_and_waited_for_there(child):
    if not hasattr(parallel, "psum_start"):
        pytest.skip("this JAX has none")
    child(
        Path(__file__).parent / "programs" / "async_collectives.py",
        env={"XPU_CPU_DEVICES": "4"},
    ).check()


@pytest.mark.values
@pytest.mark.cpu_device
def test_groups_of_different_sizes(child):
    child(
        """
        import jax, numpy as np
        from jax import lax
        from jax.sharding import AxisType, PartitionSpec as P
        jax.config.update("jax_num_cpu_devices", 4)
        x = np.arange(8, dtype=np.float32).reshape(4, 2) - 5

        def run(platform, function):
            devices = jax.devices(platform)[:4]
            mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,), devices=devices)
            spread = dict(mesh=mesh, in_specs=P("d"), out_specs=P("d"), check_vma=False)
            return np.asarray(jax.jit(jax.shard_map(function, **spread))(x))

        for groups in ([[0, 1, 2], [3]], [[3, 1], [2], [0]], [[2], [0, 1, 3]]):
            for fold in (lax.psum, lax.pmax, lax.pmin, lax.pmean):
                def among(x):
                    return fold(x, "d", axis_index_groups=groups)
                np.testing.assert_array_equal(run("xpu", among), run("cpu", among))
            total = jax.pmap(lambda x: lax.psum(x, "i", axis_index_groups=groups), axis_name="i")
            sums = {device: x[group].sum(0) for group in groups for device in group}
            np.testing.assert_array_equal(total(x), [sums[device] for device in range(4)])
        """,
        env={"XPU_CPU_DEVICES": "4"},
    ).check()
