"""PyTorch and JAX in one process: one device, one pool, one stream."""

import gc

import jax
import jax.numpy as jnp
import pytest
import torch
import xpu_runtime as xr

pytestmark = pytest.mark.values
DTYPES = ("float32", "float16", "bfloat16", "int64", "int32", "uint8", "bool", "complex64")


@pytest.mark.parametrize("dtype", DTYPES)
def test_a_tensor_becomes_an_array(dtype):
    tensor = torch.arange(24, device="xpu").reshape(4, 6).to(getattr(torch, dtype))
    if dtype == "int64" and not jax.config.jax_enable_x64:
        tensor = tensor.to(torch.int32)
    array = jax.dlpack.from_dlpack(tensor)
    assert array.unsafe_buffer_pointer() == tensor.data_ptr()
    assert array.tolist() == tensor.cpu().tolist()


@pytest.mark.parametrize("dtype", [d for d in DTYPES if d != "int64"])
def test_an_array_becomes_a_tensor(dtype):
    array = jnp.arange(24).reshape(4, 6).astype(dtype)
    tensor = torch.from_dlpack(array)
    assert tensor.device.type == "xpu"
    assert tensor.data_ptr() == array.unsafe_buffer_pointer()
    assert tensor.cpu().tolist() == array.tolist()


def test_work_is_in_order_without_a_wait():
    """Each reads what the other has only enqueued."""
    tensor = torch.zeros(1 << 20, device="xpu")
    for _ in range(20):
        array = jax.dlpack.from_dlpack(tensor) + 1
        tensor = torch.from_dlpack(array) * 1
    assert bool((tensor == 20).all())


def test_memory_outlives_its_maker():
    tensor = torch.from_dlpack(jnp.full(1000, 7.0))
    gc.collect()
    torch.empty(1000, device="xpu").fill_(1)
    assert bool((tensor == 7).all())


def test_gradients_cross_over():
    """A jitted function inside of a PyTorch graph."""

    class Scaled(torch.autograd.Function):
        @staticmethod
        def forward(context, x):
            out, context.pull = jax.vjp(
                jax.jit(lambda x: jnp.sin(x) * 3), jax.dlpack.from_dlpack(x.detach())
            )
            return torch.from_dlpack(out)

        @staticmethod
        def backward(context, gradient):
            (found,) = context.pull(jax.dlpack.from_dlpack(gradient.contiguous()))
            return torch.from_dlpack(found)

    x = torch.randn(100, device="xpu", requires_grad=True)
    y = Scaled.apply(x)
    y.square().sum().backward()
    expected = 2 * 9 * x.detach().sin() * x.detach().cos()
    torch.testing.assert_close(x.grad, expected, rtol=1e-4, atol=1e-4)


def test_one_pool_under_a_limit():
    """Each in turn takes more than half of the limit: what the other has given back is there."""
    torch.xpu.empty_cache()
    reserved = xr.memory.stats()["reserved_bytes.all.current"]
    before = xr.memory.set_limit(reserved + (96 << 20))
    try:
        for _ in range(4):
            tensor = torch.ones(16 << 20, device="xpu")
            assert xr.memory.owners()["torch"] >= tensor.nbytes
            del tensor
            array = jnp.ones(16 << 20)
            assert xr.memory.owners()["jax"] >= array.nbytes
            del array
            gc.collect()
    finally:
        xr.memory.set_limit(before)
