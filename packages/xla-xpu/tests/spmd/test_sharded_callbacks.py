"""Python functions in programs over several devices: called as often, and with what, as by JAX's CPUs."""

import pytest

pytestmark = [pytest.mark.cpu_device, pytest.mark.values]

PREPARED = """
import jax, jax.numpy as jnp, numpy as np
jax.config.update("jax_num_cpu_devices", 4)
from jax.experimental import io_callback
from jax.sharding import NamedSharding, PartitionSpec as P, SingleDeviceSharding
X = np.arange(64, dtype=np.float32).reshape(16, 4)

def compare_devices(program):
    "Calls it on either platform with its mesh, an array spread over it, and what hears shapes and sums."
    found = []
    for platform in ("cpu", "xpu"):
        heard = []
        hear = lambda x: heard.append((x.shape, float(x.sum())))
        mesh = jax.make_mesh((4,), ("d",), devices=jax.devices(platform))
        x = jax.device_put(X, NamedSharding(mesh, P("d")))
        result = jax.tree.map(np.asarray, program(mesh, x, hear))
        jax.effects_barrier()
        found.append((sorted(heard), result))
    assert found[0][0] == found[1][0], found
    jax.tree.map(np.testing.assert_array_equal, found[0][1], found[1][1])

def doubled(hear):
    def call(x):
        hear(x)
        return x * 2
    return call
"""

PROGRAMS = {
    "once": "jax.jit(lambda x: (jax.debug.callback(hear, x), x + 1)[1])(x)",
    "its parts": "jax.jit(lambda x: (jax.debug.callback(hear, x, partitioned=True), x + 1)[1])(x)",
    "pure": "jax.jit(lambda x: jax.pure_callback(doubled(hear), x, x) + 1)(x)",
    "io": "jax.jit(lambda x: io_callback(doubled(hear), x, x) + 1)(x)",
    "one device": (
        "jax.jit(lambda x: io_callback("
        "doubled(hear), x, x, sharding=SingleDeviceSharding(mesh.devices[1])) + 1)(x)"
    ),
    "in order": (
        "jax.jit(lambda x: ([io_callback(hear, None, f(x), ordered=True)"
        " for f in (jnp.sum, jnp.max)], x)[1])(x)"
    ),
    "in a loop": (
        "jax.jit(lambda x: jax.lax.fori_loop(0, 3, lambda i, x:"
        " jax.pure_callback(doubled(hear), x, x) + 1, x))(x)"
    ),
    "vectorized": (
        "jax.jit(jax.vmap(lambda r: jax.pure_callback(doubled(hear), r, r,"
        " vmap_method='expand_dims')))(x)"
    ),
    "shard_map": (
        "jax.jit(jax.shard_map(lambda x: (jax.debug.callback(hear, x), jax.pure_callback("
        "doubled(hear), x, x))[1], mesh=mesh, in_specs=P('d'), out_specs=P('d')))(x)"
    ),
    "pmap": (
        "jax.pmap(lambda x: (jax.debug.callback(hear, x), jax.pure_callback(doubled(hear), x, x))[1],"
        " devices=list(mesh.devices))(X.reshape(4, 16))"
    ),
}


@pytest.mark.parametrize("name", PROGRAMS)
def test_called_as_on_cpus(child, name):
    child(
        PREPARED + f"\ncompare_devices(lambda mesh, x, hear: {PROGRAMS[name]})\n",
        env={"XPU_CPU_DEVICES": "4"},
    ).check()


def test_prints(child):
    code = """
    import jax, jax.numpy as jnp
    from jax.sharding import NamedSharding, PartitionSpec as P
    mesh = jax.make_mesh((2,), ("d",))
    x = jax.device_put(jnp.arange(4), NamedSharding(mesh, P("d")))
    jax.jit(lambda x: jax.debug.print("all {}", x))(x)
    jax.jit(lambda x: jax.debug.print("part {}", x, partitioned=True))(x)
    jax.effects_barrier()
    """
    done = child(code, env={"XPU_CPU_DEVICES": "2"}).check()
    assert sorted(done.out.splitlines()) == ["all [0 1 2 3]", "part [0 1]", "part [2 3]"]
