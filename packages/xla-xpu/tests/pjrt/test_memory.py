"""Memory comes from the runtime's pool, is counted there, and runs out with an error."""

import gc

import jax
import numpy as np
import pytest
import xpu_runtime


def test_arrays_are_counted_as_jax(xpu):
    gc.collect()
    before = xpu.memory_stats()["bytes_in_use"]
    array = jax.device_put(np.zeros(1 << 20, np.float32), xpu)
    array.block_until_ready()
    stats = xpu.memory_stats()
    assert stats["bytes_in_use"] - before == 4 << 20
    assert stats["peak_bytes_in_use"] >= stats["bytes_in_use"]
    assert stats["bytes_reservable_limit"] == stats["bytes_limit"] > 0
    assert stats["pool_bytes"] >= stats["bytes_in_use"]
    assert stats["largest_alloc_size"] == -1  # unknown is said, not made up
    assert xpu_runtime.memory.owners()["jax"] >= 4 << 20
    array.delete()
    assert xpu.memory_stats()["bytes_in_use"] == before


def test_out_of_memory_is_an_error_and_passes(xpu):
    before = xpu_runtime.memory.set_limit(64 << 20)
    try:
        with pytest.raises(jax.errors.JaxRuntimeError, match="RESOURCE_EXHAUSTED") as caught:
            jax.device_put(np.zeros(128 << 20, np.uint8), xpu).block_until_ready()
        assert "128" in str(caught.value)
        small = jax.device_put(np.ones(1 << 20, np.uint8), xpu)
        np.testing.assert_array_equal(np.asarray(small), np.ones(1 << 20, np.uint8))
    finally:
        xpu_runtime.memory.set_limit(before)


def test_a_failing_allocation_leaves_the_arguments(xpu):
    # Donated or not, arguments are there when the outputs could not be.
    step = jax.jit(lambda x: (x + 1, x[:500] - 1), donate_argnums=0)
    step(jax.device_put(np.zeros(1000, np.float32), xpu))
    x = jax.device_put(np.zeros(1000, np.float32), xpu)
    with xpu_runtime.memory.fail_allocation(1):
        with pytest.raises(ValueError, match="RESOURCE_EXHAUSTED"):
            step(x)
    assert not x.is_deleted()
    np.testing.assert_array_equal(np.asarray(step(x)[0]), np.ones(1000, np.float32))


def test_program_in_pinned_memory(xpu):
    pinned = jax.sharding.SingleDeviceSharding(xpu, memory_kind="pinned_host")
    x = jax.device_put(np.arange(10, dtype=np.float32), xpu)
    y = jax.jit(lambda x: x * 2, out_shardings=pinned)(x)
    assert y.sharding.memory_kind == "pinned_host"
    np.testing.assert_array_equal(np.asarray(y), np.arange(10, dtype=np.float32) * 2)


def test_program_of_pinned_memory(xpu):
    pinned = jax.sharding.SingleDeviceSharding(xpu, memory_kind="pinned_host")
    here = jax.sharding.SingleDeviceSharding(xpu)
    x = jax.device_put(np.arange(10, dtype=np.float32), pinned)
    y = jax.jit(lambda x: jax.device_put(x, here) * 2, in_shardings=pinned)(x)
    assert y.sharding.memory_kind == "device"
    np.testing.assert_array_equal(np.asarray(y), np.arange(10, dtype=np.float32) * 2)
