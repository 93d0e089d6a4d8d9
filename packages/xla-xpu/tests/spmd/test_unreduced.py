"""Arrays of which each device has a summand: every device's own numbers, beside JAX's CPU devices."""

from pathlib import Path

import pytest
from unreduced import PROGRAMS

# XPU_CPU_DEVICES makes several of the one.
pytestmark = [pytest.mark.cpu_device, pytest.mark.values]

FOUR = {"XPU_CPU_DEVICES": "4"}


def test_programs(child):
    done = child(
        f"""
        import sys
        sys.path.insert(0, {str(Path(__file__).parent)!r})
        import jax
        jax.config.update("jax_num_cpu_devices", 4)
        import unreduced
        for name in {list(PROGRAMS)!r}:
            unreduced.compare(name)
            print(name)
        """,
        env=FOUR,
    ).check()
    assert done.out.split() == list(PROGRAMS)


def test_sums_carried_around_a_loop_beside_summands(child):
    """Shardy sums what the loop only reads; JAX's CPU then adds the sum on every device."""
    code = """
    import jax, numpy as np
    from jax import lax
    from jax.sharding import PartitionSpec as P
    with jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"))):
        parts = jax.device_put(np.arange(8.0, dtype="float32").reshape(2, 4), P("x", None))
        apart = lambda x: lax.pcast(x, "x", to="unreduced")
        left = jax.shard_map(apart, in_specs=P("x"), out_specs=P(unreduced={"x"}))
        y = jax.jit(left)(parts)
        added = jax.jit(lambda y: lax.scan(lambda c, _: (c + y, None), y, length=3)[0])(y)
        assert added.sharding.spec.unreduced == {"x"}
        np.testing.assert_array_equal(jax.reshard(added, P()), [[16, 24, 32, 40]])
    """
    child(code, env=FOUR).check()


def test_sums_without_communication(child):
    """A product whose summands are wanted has no collective, nor has what shifts its sum."""
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import PartitionSpec as P
    with jax.set_mesh(jax.make_mesh((2, 2), ("x", "y"))):
        a = jax.device_put(np.ones((4, 8), "float32"), P(None, "x"))
        b = jax.device_put(np.ones((8, 4), "float32"), P("x", None))
        to = P(None, None, unreduced={"x"})
        product = lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=to)
        left = lambda a, b: (product(a, b).T + product(a, b)).sum(0)
        assert "all-reduce" not in jax.jit(left).lower(a, b).compile().as_text()
        total = lambda a, b: jax.reshard(left(a, b), P())
        assert jax.jit(total).lower(a, b).compile().as_text().count("all-reduce(") == 1
    """
    child(code, env=FOUR).check()
