"""Arrays of the host to the device and back, bit for bit."""

import jax
import jax.numpy as jnp
import ml_dtypes
import numpy as np
import pytest

DTYPES = [
    "bool",
    *("int8", "int16", "int32", "int64", "uint8", "uint16", "uint32", "uint64"),
    *("float16", "float32", "float64", "bfloat16", "complex64", "complex128"),
    *("int2", "uint2", "int4", "uint4", "float4_e2m1fn"),
    *("float8_e3m4", "float8_e4m3", "float8_e4m3b11fnuz", "float8_e4m3fn", "float8_e4m3fnuz"),
    *("float8_e5m2", "float8_e5m2fnuz", "float8_e8m0fnu"),
]

# What a host array can look like, made of a dense one of shape (4, 6, 8).
VIEWS = {
    "dense": lambda a: a,
    "transposed": lambda a: a.T,
    "permuted": lambda a: a.transpose(1, 2, 0),
    "every second": lambda a: a[::2, :, ::2],
    "reversed": lambda a: a[::-1, :, ::-1],
    "broadcast": lambda a: np.broadcast_to(a[:1, :1], (3, 5, 8)),
    "one row": lambda a: a[2, 3],
    "scalar": lambda a: a[1, 1, 1],
    "empty": lambda a: a[:, :0],
    "of one": lambda a: a[:1, :1, :1],
    "many dimensions": lambda a: a.reshape(2, 2, 1, 2, 3, 1, 2, 2, 2, 1, 1, 1, 1, 1)[..., 0],
}


def values(dtype: str, shape: tuple[int, ...]) -> np.ndarray:
    numbers = np.arange(np.prod(shape)).reshape(shape)
    if "complex" in dtype:
        numbers = numbers - 1j * numbers
    narrow = {"int2": 2, "uint2": 2, "int4": 8, "uint4": 16, "bool": 2}.get(dtype, 100)
    return (numbers % narrow if "complex" not in dtype else numbers).astype(jnp.dtype(dtype))


def same(got: np.ndarray, expected: np.ndarray) -> None:
    assert got.dtype == expected.dtype
    np.testing.assert_array_equal(
        np.ascontiguousarray(got).view(np.uint8), np.ascontiguousarray(expected).view(np.uint8)
    )


@pytest.mark.parametrize("dtype", DTYPES)
def test_round_trip_of_every_dtype(xpu, dtype):
    with jax.enable_x64(True):
        host = values(dtype, (5, 7))
        there = jax.device_put(host, xpu)
        assert there.dtype == host.dtype
        same(np.asarray(there), host)


@pytest.mark.parametrize("view", VIEWS)
def test_round_trip_of_every_stride(xpu, view):
    host = VIEWS[view](np.arange(4 * 6 * 8, dtype=np.float32).reshape(4, 6, 8))
    there = jax.device_put(host, xpu)
    assert there.shape == host.shape
    np.testing.assert_array_equal(np.asarray(there), host)


@pytest.mark.parametrize("size", [1, 1 << 14, (1 << 14) + 1, 1 << 20], ids=str)
@pytest.mark.parametrize("kind", ["device", "pinned_host", "unpinned_host"])
def test_round_trip_of_sizes_and_kinds(xpu, size, kind):
    host = np.arange(size, dtype=np.float32)
    there = jax.device_put(host, jax.sharding.SingleDeviceSharding(xpu, memory_kind=kind))
    assert there.sharding.memory_kind == kind
    np.testing.assert_array_equal(np.asarray(there), host)


def test_source_may_change_after_the_transfer(xpu):
    for size in (8, 1 << 20):
        host = np.zeros(size, np.float32)
        there = jnp.array(host, device=xpu)  # asks for a copy
        host[:] = 1
        np.testing.assert_array_equal(np.asarray(there), np.zeros(size, np.float32))


@pytest.mark.parametrize("first", ["device", "pinned_host", "unpinned_host"])
@pytest.mark.parametrize("second", ["device", "pinned_host", "unpinned_host"])
def test_between_kinds_of_memory(xpu, first, second):
    host = np.arange(300, dtype=np.int32)
    array = host
    for kind in (first, second):
        sharding = jax.sharding.SingleDeviceSharding(xpu, memory_kind=kind)
        array = jax.device_put(array, sharding)
        assert array.sharding.memory_kind == kind
    np.testing.assert_array_equal(np.asarray(array), host)


def test_to_the_cpu_and_back(xpu, cpu):
    host = np.arange(12.0, dtype=np.float32).reshape(3, 4)
    there = jax.device_put(jax.device_put(host, xpu), cpu)
    assert there.devices() == {cpu}
    back = jax.device_put(there, xpu)
    assert back.devices() == {xpu}
    np.testing.assert_array_equal(np.asarray(back), host)


def test_many_at_once(xpu):
    hosts = [np.full((i % 7, 3), i, np.float32) for i in range(200)]
    for host, array in zip(hosts, jax.device_put(hosts, xpu), strict=True):
        np.testing.assert_array_equal(np.asarray(array), host)


def test_copy_to_host_async(xpu):
    arrays = [jax.device_put(np.full(1000, i, np.int32), xpu) + 1 for i in range(20)]
    for array in arrays:
        array.copy_to_host_async()
    for i, array in enumerate(arrays):
        np.testing.assert_array_equal(np.asarray(array), np.full(1000, i + 1, np.int32))


def test_ml_dtypes_are_all_here():
    names = {name for name in dir(ml_dtypes) if name.startswith(("float", "bfloat", "int", "uint"))}
    unknown = {"float6_e2m3fn", "float6_e3m2fn", "int1", "uint1"}
    assert names - unknown <= set(DTYPES)
