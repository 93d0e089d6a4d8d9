"""Programs compiled for devices by their name, run by others later."""

import jax
import numpy as np
import pytest
from jax.experimental import serialize_executable, topologies
from jax.sharding import Mesh, NamedSharding
from jax.sharding import PartitionSpec as P

X = np.arange(32, dtype=np.float32).reshape(8, 4)


def ahead(name, function, spec, axes=("d",), shape=(-1,)):
    """A function compiled for a topology's devices."""
    topology = topologies.get_topology_desc(platform="xpu", topology_name=name)
    mesh = Mesh(np.array(topology.devices).reshape(shape), axes)
    given = jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=NamedSharding(mesh, spec))
    return jax.jit(function).lower(given).compile()


def test_devices_here(xpu):
    for name in ("", "xpu"):
        devices = topologies.get_topology_desc(platform="xpu", topology_name=name).devices
        assert len(devices) == len(jax.devices())
        assert devices[0].device_kind == xpu.device_kind
        assert devices[0].platform == "xpu"


def test_devices_that_are_not_here(xpu):
    devices = topologies.get_topology_desc(platform="xpu", topology_name="xpu:16").devices
    assert [device.id for device in devices] == list(range(16))
    assert {device.device_kind for device in devices} == {xpu.device_kind}


@pytest.mark.parametrize("name", ["tpu:2", "xpu:", "xpu:0", "xpu:-1", "xpu:2x", "2", "xpu:99999"])
def test_names_that_are_none(xpu, name):
    with pytest.raises(jax.errors.JaxRuntimeError, match="there is no topology"):
        topologies.get_topology_desc(platform="xpu", topology_name=name)


def test_options_that_are_none(xpu):
    with pytest.raises(jax.errors.JaxRuntimeError, match='no option "shape"'):
        topologies.get_topology_desc(platform="xpu", shape="2x2")


def test_what_is_known_before_it_runs(xpu):
    program = ahead("xpu:4", lambda x: x @ x.T, P("d"))
    assert "ENTRY" in program.as_text()
    assert program.cost_analysis()
    assert program.memory_analysis().argument_size_in_bytes == X.nbytes // 4


@pytest.mark.values
def test_run_by_the_device_that_is_here(xpu):
    program = ahead("xpu:1", lambda x: (x * 2).sum(0), P())
    text, given, taken = serialize_executable.serialize(program)
    again = serialize_executable.deserialize_and_load(
        text, given, taken, backend="xpu", execution_devices=[xpu]
    )
    np.testing.assert_array_equal(again(jax.device_put(X, xpu)), (X * 2).sum(0))


@pytest.mark.values
@pytest.mark.cpu_device
def test_run_by_several(child, tmp_path):
    code = """
        import pickle, sys
        import jax, numpy as np
        from jax.experimental import serialize_executable, topologies
        from jax.sharding import Mesh, NamedSharding, PartitionSpec as P
        X, path = np.arange(32, dtype=np.float32).reshape(8, 4), {path!r}
        if len(jax.devices()) == 1:
            devices = topologies.get_topology_desc(platform="xpu", topology_name="xpu:4").devices
            spread = NamedSharding(Mesh(np.array(devices), ("d",)), P("d"))
            given = jax.ShapeDtypeStruct(X.shape, X.dtype, sharding=spread)
            program = jax.jit(lambda x: x - x.mean(0)).lower(given).compile()
            with open(path, "wb") as file:
                pickle.dump(serialize_executable.serialize(program), file)
        else:
            spread = NamedSharding(jax.make_mesh((4,), ("d",)), P("d"))
            with open(path, "rb") as file:
                program = serialize_executable.deserialize_and_load(
                    *pickle.load(file), backend="xpu", execution_devices=jax.devices()
                )
            y = program(jax.device_put(X, spread))
            np.testing.assert_allclose(y, X - X.mean(0))
            assert len(y.sharding.device_set) == 4
    """.format(path=str(tmp_path / "program"))
    child(code, env={"XPU_CPU_DEVICES": "1"}).check()
    child(code, env={"XPU_CPU_DEVICES": "4"}).check()


def test_devices_that_it_needs_are_not_here(xpu):
    here = len(jax.devices())
    program = ahead(f"xpu:{here + 1}", lambda x: x + 1, P(), shape=(here + 1,))
    executable = program.runtime_executable()
    text = executable.serialize()
    with pytest.raises(jax.errors.JaxRuntimeError, match="there is no xpu device"):
        xpu.client.deserialize_executable(text, jax.devices())
