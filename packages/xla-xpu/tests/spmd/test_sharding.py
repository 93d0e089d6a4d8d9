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
        compiled = jax.jit(lambda x: x - x.mean()).lower(x).compile()
        again = saved.deserialize_and_load(*saved.serialize(compiled))
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


def test_what_a_program_says_of_itself(child):
    """Text, also of what has constants or regions of its own; and how arrays inside are spread."""
    child(
        """
        import jax, jax.numpy as jnp, numpy as np
        from jax.sharding import NamedSharding, PartitionSpec as P
        mesh = jax.make_mesh((4,), ("d",))
        x = jax.device_put(np.ones((16, 4), "float32"), NamedSharding(mesh, P("d")))
        row = np.arange(4, dtype="float32")
        compiled = jax.jit(lambda x: x + row + 3).lower(x).compile()
        assert "add" in compiled.as_text()
        total = lambda x: jax.lax.psum(x * row, "d")
        mapped = jax.shard_map(total, mesh=mesh, in_specs=P("d"), out_specs=P())
        assert "all-reduce" in jax.jit(mapped).lower(x).compile().as_text()
        for _ in range(2):  # also of a program that was compiled before
            heard = []
            @jax.jit
            def inspected(x):
                jax.debug.inspect_array_sharding(x @ x.sum(0), callback=heard.append)
                return x
            inspected(x)
            (sharding,) = heard
            assert sharding.is_equivalent_to(NamedSharding(mesh, P("d")), 1), sharding
        """,
        env=FOUR,
    ).check()


def test_text_has_the_collectives_of_each_device(child):
    """Those that the division makes, and the shapes of a device's parts."""
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
    mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
    rows, whole = NamedSharding(mesh, P("d")), NamedSharding(mesh, P())
    x = jax.device_put(np.ones((16, 8), "float32"), rows)
    def text(function, **options):
        return jax.jit(function, **options).lower(x).compile().as_text()
    assert "all-reduce(" in text(lambda x: x.sum(0))
    assert "all-gather(" in text(lambda x: x * 2, out_shardings=whole)
    alone = text(lambda x: jnp.tanh(x) * 2 + jax.lax.erf(x))
    assert not any(word in alone for word in ("all-", "collective", "f32[16,8]")), alone
    assert "f32[4,8]" in alone
    assert "sharding={devices=[4,1]<=[4]}" in alone, alone
    mapped = lambda function: jax.shard_map(function, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
    around = [(i, (i + 1) % 4) for i in range(4)]
    moved = mapped(lambda x: jax.lax.ppermute(x, "d", around))
    assert "source_target_pairs={{0,1},{1,2},{2,3},{3,0}}" in text(moved)
    looped = lambda x: jax.lax.while_loop(lambda c: c.sum() < 9, lambda c: c + c.max(), x)
    assert text(looped).count("all-reduce(") == 2
    """
    child(code, env=FOUR).check()


def test_text_has_constants_of_every_type(child):
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import NamedSharding, PartitionSpec as P
    sharding = NamedSharding(jax.make_mesh((4,), ("d",)), P("d"))
    for dtype in ("bool", "int4", "uint8", "int32", "float16", "bfloat16", "float8_e5m2", "complex64"):
        numbers = np.arange(8).reshape(4, 2).astype(dtype)
        if dtype == "complex64":
            numbers *= 1 + 2j
        constant = jax.device_put(numbers, sharding)  # an array of several devices, seen by a program
        x = jax.device_put(np.ones((4, 2), "int32"), sharding)
        jitted = jax.jit(lambda x: (jnp.where(x > 0, numbers, numbers[0, 0]), constant))
        lowered = jitted.lower(x).compile()
        assert "constant(" in lowered.as_text(), dtype
        for got in lowered(x):
            np.testing.assert_array_equal(np.asarray(got), numbers)
    """
    child(code, env=FOUR).check()


def test_an_array_made_like_another_is_spread_like_it(child):
    """As it is told of, too, where every device computes all of it."""
    pytest.importorskip("jax.experimental.shard_alike")  # JAX 0.12 has none
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.experimental.shard_alike import shard_alike
    from jax.sharding import AxisType, NamedSharding, PartitionSpec as P
    mesh = jax.make_mesh((4,), ("d",), axis_types=(AxisType.Auto,))
    x = jax.device_put(np.arange(8.0, dtype="float32"), NamedSharding(mesh, P("d")))
    heard = []
    def loss(x):
        one, other = shard_alike(x, jnp.arange(8.0))
        jax.debug.inspect_array_sharding(other, callback=heard.append)
        return (one * other).sum()
    for function in (loss, jax.jit(loss)):
        np.testing.assert_array_equal(jax.grad(function)(x), np.arange(8.0))
    assert len(heard) == 2 and all(s.shard_shape((8,)) == (2,) for s in heard), heard
    """
    child(code, env=FOUR).check()


def test_values_computed_for_nobody(child):
    code = """
    import jax, numpy as np
    from jax import lax
    from jax.sharding import NamedSharding, PartitionSpec as P
    def function(x):
        lax.dce_sink(x * 2, prevent_mlir_dce=True)
        return x + 1
    x = np.arange(8.0, dtype="float32")
    spread = jax.device_put(x, NamedSharding(jax.make_mesh((4,), ("d",)), P("d")))
    for given in (x, spread):
        np.testing.assert_array_equal(jax.jit(function)(given), x + 1)
        compiled = jax.jit(function).lower(given).compile()
        assert "dce_sink" in compiled.as_text() and "all-gather" not in compiled.as_text()
    """
    child(code, env=FOUR).check()


def test_arrays_spread_alike(child):
    pytest.importorskip("jax.experimental.shard_alike")  # JAX 0.12 has none
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.experimental.shard_alike import shard_alike
    from jax.sharding import NamedSharding, PartitionSpec as P
    mesh = jax.make_mesh((4,), ("d",))
    x = jax.device_put(np.arange(8.0, dtype="float32"), NamedSharding(mesh, P("d")))
    for given in (x, np.asarray(x)):
        one, other = jax.jit(lambda x: shard_alike(x * 2, jnp.ones(8)))(given)
        assert one.sharding == other.sharding
        np.testing.assert_array_equal(other, np.ones(8))
    """
    child(code, env=FOUR).check()


def test_functions_that_divide_themselves(child):
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.experimental.custom_partitioning import custom_partitioning
    from jax.sharding import NamedSharding, PartitionSpec as P
    mesh = jax.make_mesh((4,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))

    @custom_partitioning
    def transform(x, factor):
        return jnp.fft.fft(x) * factor

    def partition(mesh, arguments, result):
        rows = arguments[0].sharding.spec[:1]
        sharding = NamedSharding(arguments[0].sharding.mesh, P(*rows, None))
        own = lambda x, factor: jnp.fft.fft(x) * factor
        return mesh, own, sharding, (sharding, NamedSharding(mesh, P()))

    transform.def_partition(
        partition=partition, sharding_rule="i j, -> i j", need_replication_factors=("j",)
    )
    x = np.arange(64, dtype="float32").reshape(16, 4)
    for spec, expected in ((P("d"), P("d")), (P(None, "d"), P())):
        given = jax.device_put(x, NamedSharding(mesh, spec))
        jitted = jax.jit(lambda x: transform(x + 1, 2.0), out_shardings=NamedSharding(mesh, expected))
        np.testing.assert_allclose(jitted(given), np.fft.fft(x + 1) * 2, rtol=1e-4, atol=1e-4)
    """
    child(code, env=FOUR).check()


def test_ragged_all_to_all(child):
    """JAX's CPU has none to compare with."""
    code = """
    import jax, numpy as np
    from jax.sharding import PartitionSpec as P
    count, rng = 4, np.random.default_rng(0)
    mesh = jax.make_mesh((count,), ("d",), axis_types=(jax.sharding.AxisType.Auto,))
    sizes = rng.integers(0, 3, (count, count)).astype("int32")  # from a row's device to a column's
    x = rng.standard_normal((count, 2 * count, 3)).astype("float32")
    begin = (np.cumsum(sizes, 1) - sizes).astype("int32")
    at = (np.cumsum(sizes, 0) - sizes).astype("int32")
    out = np.full(x.shape, -1, "float32")
    expected = out.copy()
    for one, other in np.ndindex(count, count):
        rows = x[one, begin[one, other] :][: sizes[one, other]]
        expected[other, at[one, other] : at[one, other] + len(rows)] = rows

    def function(*arguments):
        return jax.lax.ragged_all_to_all(*(a[0] for a in arguments), axis_name="d")[None]

    mapped = jax.shard_map(function, mesh=mesh, in_specs=P("d"), out_specs=P("d"))
    got = jax.jit(mapped)(x, out, begin, sizes, at, sizes.T.copy())
    np.testing.assert_array_equal(got, expected)
    """
    child(code, env=FOUR).check()


def test_arrays_still_to_be_summed(child):
    code = """
    import jax, jax.numpy as jnp, numpy as np
    from jax.sharding import PartitionSpec as P
    x = np.arange(64, dtype="float32").reshape(16, 4)
    for shape, names in (((4,), ("d",)), ((2, 2), ("o", "d"))):
        with jax.set_mesh(jax.make_mesh(shape, names)):
            a = jax.device_put(x.T.copy(), P(None, "d"))
            b = jax.device_put(x, P("d", None))
            to = P(None, None, unreduced={"d"})
            product = lambda a, b: jnp.einsum("ij,jk->ik", a, b, out_sharding=to)
            left = jax.jit(product)(a, b)
            assert left.sharding.spec.unreduced == {"d"}, left.sharding
            for spec in (P(None, None), P("d", None)):
                for total in (
                    jax.jit(lambda a, b: jax.reshard(product(a, b), spec))(a, b),
                    jax.jit(lambda y: jax.reshard(y, spec))(left),
                    jax.reshard(jax.jit(lambda y: y + y)(left), spec) / 2,
                ):
                    np.testing.assert_allclose(total, x.T @ x, rtol=1e-5)
            def loss(w, b):
                w = jax.reshard(w, P(None, None, reduced={"d"}))
                return (b @ w).sum()
            w = jax.device_put(np.ones((4, 3), "float32"), P(None, None))
            np.testing.assert_allclose(jax.jit(jax.grad(loss))(w, b), x.T @ np.ones((16, 3)))
    """
    child(code, env=FOUR).check()
