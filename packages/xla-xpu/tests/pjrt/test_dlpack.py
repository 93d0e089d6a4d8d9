"""DLPack both ways: the same memory, no copy, no wait."""

import gc

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xpu_runtime

from xla_xpu import _dlpack


class Owner:
    """An array of somebody else's, as a consumer sees it."""

    def __init__(self, array, device=(14, 0)):
        self.array, self.device = array, device

    def __dlpack__(self, **arguments):
        return self.array.__dlpack__(**arguments)

    def __dlpack_device__(self):
        return self.device


DTYPES = [
    *("bool", "int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "bfloat16", "float32", "float64", "complex64", "complex128"),
]


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip_is_the_same_memory(xpu, dtype):
    with jax.enable_x64(True):
        array = jax.device_put(np.arange(12).reshape(3, 4).astype(jnp.dtype(dtype)), xpu)
        assert array.__dlpack_device__() == (14, 0)
        seen = jax.dlpack.from_dlpack(Owner(array))
        assert seen.unsafe_buffer_pointer() == array.unsafe_buffer_pointer()
        assert (seen.shape, seen.dtype, seen.devices()) == (array.shape, array.dtype, {xpu})
        np.testing.assert_array_equal(np.asarray(seen), np.asarray(array))


def test_export_keeps_the_memory(xpu):
    array = jax.device_put(np.arange(1000, dtype=np.float32), xpu)
    capsule = array.__dlpack__()
    array.delete()
    others = [jax.device_put(np.zeros(1000, np.float32), xpu) for _ in range(3)]

    class Kept(Owner):
        def __dlpack__(self, **_):
            return self.array

    seen = jax.dlpack.from_dlpack(Kept(capsule))
    np.testing.assert_array_equal(np.asarray(seen), np.arange(1000, dtype=np.float32))
    assert len(others) == 3


def test_unused_capsule_gives_the_memory_back(xpu):
    gc.collect()
    before = xpu.memory_stats()["bytes_in_use"]
    array = jax.device_put(np.zeros(1 << 18, np.float32), xpu)
    capsule = array.__dlpack__()
    del array
    assert xpu.memory_stats()["bytes_in_use"] - before == 1 << 20
    del capsule
    assert xpu.memory_stats()["bytes_in_use"] == before


def test_imported_memory_goes_back_to_its_owner(xpu):
    gc.collect()
    before = xpu.memory_stats()["bytes_in_use"]
    array = jax.device_put(np.zeros(1 << 18, np.float32), xpu)
    seen = jax.dlpack.from_dlpack(Owner(array))
    del array
    np.testing.assert_array_equal(np.asarray(seen[:5]), np.zeros(5, np.float32))
    del seen
    gc.collect()
    assert xpu.memory_stats()["bytes_in_use"] == before


def test_exports_of_nothing_and_of_scalars(xpu):
    for host in (np.zeros((0, 3), np.float32), np.float32(7)):
        array = jax.device_put(host, xpu)
        seen = jax.dlpack.from_dlpack(Owner(array))
        np.testing.assert_array_equal(np.asarray(seen), host)


def test_copy_is_another_memory(xpu):
    array = jax.device_put(np.arange(8, dtype=np.int32), xpu)

    class Copied(Owner):
        def __dlpack__(self, **arguments):
            return self.array.__dlpack__(copy=True)

    seen = jax.dlpack.from_dlpack(Copied(array))
    assert seen.unsafe_buffer_pointer() != array.unsafe_buffer_pointer()
    np.testing.assert_array_equal(np.asarray(seen), np.asarray(array))


def test_numpy_gets_host_memory(xpu):
    pinned = jax.sharding.SingleDeviceSharding(xpu, memory_kind="pinned_host")
    array = jax.device_put(np.arange(8, dtype=np.int32), pinned)
    assert array.__dlpack_device__() == (1, 0)
    seen = np.from_dlpack(array)
    assert seen.ctypes.data == array.unsafe_buffer_pointer()
    np.testing.assert_array_equal(seen, np.arange(8, dtype=np.int32))


def test_refusals(xpu):
    array = jax.device_put(np.arange(8, dtype=np.int32), xpu)
    with pytest.raises(BufferError, match="without a copy"):
        array.__dlpack__(dl_device=(1, 0), copy=False)
    with pytest.raises(BufferError, match="cannot be exported"):
        array.__dlpack__(dl_device=(2, 0))
    array.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        array.__dlpack__()


def test_arrays_of_the_cpu_are_exported_by_jax(cpu):
    array = jax.device_put(np.arange(8, dtype=np.int32), cpu)
    assert array.__dlpack_device__() == (1, 0)
    np.testing.assert_array_equal(np.from_dlpack(array), np.arange(8, dtype=np.int32))


def test_work_of_another_stream_is_waited_for_on_the_device(xpu):
    # The consumer's stream comes after the array, and the import comes after the consumer's stream.
    other = xpu_runtime.Stream(0)
    with xpu_runtime.stream(other):
        array = jax.device_put(np.ones(1 << 20, np.float32), xpu)
        for _ in range(10):
            array = array * 2
        seen = jax.dlpack.from_dlpack(Owner(array))
        total = seen + 1
    np.testing.assert_array_equal(np.asarray(total[:4]), np.full(4, 1025, np.float32))


@pytest.mark.parametrize("name", sorted(_dlpack._NAMES))
def test_every_named_type_is_one_of_jax(name):
    assert _dlpack.type_of(jnp.dtype(name)) == (_dlpack._NAMES[name], jnp.dtype(name).itemsize * 8)
