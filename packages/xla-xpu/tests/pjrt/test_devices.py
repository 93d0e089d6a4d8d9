"""What ``jax.devices()`` shows, and when it shows nothing of ours."""

import jax
import pytest
import xpu_runtime


def test_every_device_of_the_runtime_is_one_of_jax():
    devices = jax.devices()
    assert len(devices) == xpu_runtime.device_count()
    assert [device.platform for device in devices] == ["xpu"] * len(devices)
    assert [device.id for device in devices] == list(range(len(devices)))


def test_device_says_what_it_is(xpu):
    info = xpu_runtime.devices()[0]
    assert repr(xpu) == "XpuDevice(id=0)"
    assert str(xpu) == "xpu:0"
    assert xpu.device_kind == info.name
    assert xpu.local_hardware_id == 0
    assert xpu.process_index == 0
    assert xpu.vendor == info.vendor
    assert xpu.total_memory == info.total_memory


def test_memories(xpu):
    kinds = [memory.kind for memory in xpu.addressable_memories()]
    assert kinds == ["device", "pinned_host", "unpinned_host"]
    assert xpu.default_memory().kind == "device"
    assert str(xpu.memory("pinned_host")) == "pinned_host of xpu:0"
    assert repr(xpu.memory("pinned_host")) == "XpuMemory(id=1, kind=pinned_host)"


def test_unknown_device_is_an_error():
    with pytest.raises(jax.errors.JaxRuntimeError, match="there is no xpu device 99"):
        jax.devices()[0].client.device_from_local_hardware_id(99)


@pytest.mark.cpu_device
def test_several_devices(child):
    child(
        """
        import jax, numpy as np
        one, two = jax.devices()
        assert (one.id, two.id) == (0, 1), (one, two)
        there = jax.device_put(np.arange(5.0, dtype="float32"), two)
        assert there.devices() == {two}
        back = jax.device_put(there, one)
        assert back.devices() == {one}
        np.testing.assert_array_equal(back, np.arange(5.0, dtype="float32"))
        assert jax.jit(lambda x: x + 1)(there).devices() == {two}
        """,
        env={"XPU_CPU_DEVICES": "2"},
    ).check()


def test_nothing_is_registered_without_a_device(child):
    # A selector that no device of any machine meets.
    child(
        """
        import jax
        assert jax.devices()[0].platform == "cpu"
        """,
        env={"ONEAPI_DEVICE_SELECTOR": "level_zero:99", "JAX_PLATFORMS": None},
    ).check()


def test_nothing_is_loaded_when_other_platforms_are_asked_for(child):
    child(
        """
        import sys, jax
        assert jax.devices()[0].platform == "cpu"
        assert "xpu_runtime" not in sys.modules
        """,
        env={"JAX_PLATFORMS": "cpu"},
    ).check()


def test_no_warning_and_first_choice(child):
    done = child("import jax; print(jax.devices())", env={"JAX_PLATFORMS": None}).check()
    assert done.out.startswith("[XpuDevice(id=0)")
    assert "experimental" not in done.err
