"""One program over several devices, beside JAX's own CPU devices."""

from pathlib import Path

import pytest
from sharded import PROGRAMS

# XPU_CPU_DEVICES makes several of the one.
pytestmark = pytest.mark.cpu_device

FOUR = {"XPU_CPU_DEVICES": "4"}
GROUPS = 4


@pytest.mark.values
@pytest.mark.parametrize("group", range(GROUPS))
def test_programs(child, group):
    # A process for several: what costs is to start it.
    names = list(PROGRAMS)[group::GROUPS]
    done = child(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import jax
        jax.config.update("jax_num_cpu_devices", 4)
        import sharded
        for name in {names!r}:
            sharded.compare(name)
            print(name)
        """,
        env=FOUR,
    ).check()
    assert done.out.split() == names


@pytest.mark.values
def test_serialized(child):
    child(
        """
        import jax, numpy as np
        from jax.experimental import serialize_executable as saved
        from jax.sharding import NamedSharding, PartitionSpec as P
        mesh = jax.make_mesh((4,), ("d",))
        x = jax.device_put(np.arange(16.0, dtype="float32"), NamedSharding(mesh, P("d")))
        made = jax.jit(lambda x: x - x.mean()).lower(x).compile()
        again = saved.deserialize_and_load(*saved.serialize(made))
        y = again(x)
        assert y.sharding == x.sharding, y.sharding
        np.testing.assert_allclose(y, np.arange(16.0) - 7.5)
        """,
        env=FOUR,
    ).check()


def test_the_old_partitioner_is_refused(child):
    child(
        """
        import jax, numpy as np
        from jax.sharding import NamedSharding, PartitionSpec as P
        jax.config.update("jax_use_shardy_partitioner", False)
        mesh = jax.make_mesh((4,), ("d",))
        x = jax.device_put(np.ones(8, "float32"), NamedSharding(mesh, P("d")))
        try:
            jax.jit(lambda x: x.sum())(x)
        except Exception as e:
            assert "jax_use_shardy_partitioner" in str(e), e
        else:
            raise AssertionError("expected a refusal")
        """,
        env=FOUR,
    ).check()
