"""Programs that are exported: for several platforms, with sizes left open."""

import jax
import jax.numpy as jnp
import numpy as np
import pytest
from cpu_comparison import TOLERANCES
from jax import export, lax
from jax.sharding import NamedSharding, PartitionSpec


def program(x):
    rows, columns = x.shape
    pairs = jnp.concatenate([jnp.sin(x).reshape(-1), jnp.arange(rows).astype(x.dtype)])
    gram = x.T @ x + 10 * jnp.eye(columns)
    ordered = jnp.sort(x, 0)[::2]
    return pairs, jax.nn.softmax(x), lax.cumsum(x), jnp.pad(x, ((1, 2), (0, 1))), gram, ordered


def test_sizes_left_open(xpu, cpu):
    sizes = export.symbolic_shape("rows, columns")
    exported = export.export(jax.jit(program), platforms=["xpu", "cpu"])(
        jax.ShapeDtypeStruct(sizes, np.float32)
    )
    within = TOLERANCES["float32"]
    for shape in ((3, 4), (7, 2)):
        x = np.random.default_rng(0).normal(size=shape).astype(np.float32)
        got, expected = (exported.call(jax.device_put(x, device)) for device in (xpu, cpu))
        for one, other in zip(got, expected, strict=True):
            assert one.devices() == {xpu}
            np.testing.assert_allclose(one, other, rtol=within, atol=within)


def test_for_other_platforms_only(xpu):
    exported = export.export(jax.jit(program), platforms=["cuda"])(np.ones((3, 4), np.float32))
    with pytest.raises(ValueError, match=r"cuda.*xpu|xpu.*cuda"):
        exported.call(jax.device_put(np.ones((3, 4), np.float32), xpu))


def test_kinds_of_memory_are_those_of_the_results():
    mesh = jax.make_mesh((1,), ("x",), devices=jax.devices()[:1])
    for kind, space in (("pinned_host", "Host"), ("device", "Device")):
        place = NamedSharding(mesh, PartitionSpec(), memory_kind=kind)
        program = jax.jit(lambda x: x * 2, out_shardings=place)
        exported = export.export(program)(jax.ShapeDtypeStruct((2, 3), np.float32))
        assert exported.out_avals[0].memory_space.name == space
