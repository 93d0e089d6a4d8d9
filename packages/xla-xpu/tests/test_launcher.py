"""JAX arrays as arguments of the runtime's launches."""

from __future__ import annotations

import jax
import jax.numpy as jnp
import numpy as np
import pytest
import xpu_runtime as xr

SOURCE = """
#include <xpu/core.h>
XPU_KERNEL(1) scale(xpu::global<float> y, xpu::global<const float> x, long n, float factor) {
  long i = xpu::global_id();
  if (i < n) y[i] = factor * x[i];
}
"""


@pytest.fixture(scope="module")
def scale():
    jax.devices("xpu")
    return xr.Launcher(xr.compile(SOURCE).kernel("scale"), "ppi8f4")


@pytest.mark.values
def test_arrays_are_arguments(scale):
    x, y = jnp.arange(64.0), xr.zeros(64)
    scale(64, 64, y, x, 64, 2.0)
    assert (y.numpy() == 2 * np.arange(64)).all()


@pytest.mark.values
def test_launches_on_other_streams_run_after_the_computation(scale):
    """The array may be dropped at once, and JAX may use its memory again."""
    stream, n = xr.Stream(), 1 << 20
    slow = jax.jit(lambda x: jax.lax.fori_loop(0, 20, lambda _, v: jnp.sin(v) + 1, x))
    x = jnp.ones(n)
    expected = np.asarray(slow(x))
    for _ in range(10):
        y = xr.zeros(n)
        stream.wait(xr.default_stream())
        result = slow(x)
        scale(n, 64, y, result, n, 1.0, stream=stream)
        del result
        other = slow(x + 1)
        assert (y.numpy(stream) == expected).all()
        del other


def test_a_deleted_array_is_refused(scale):
    x = jnp.ones(64)
    x.delete()
    with pytest.raises(RuntimeError, match="deleted"):
        scale(64, 64, x, x, 64, 1.0)


def test_an_array_of_the_cpu_is_refused(scale):
    x = jax.device_put(np.ones(64, np.float32), jax.devices("cpu")[0])
    with pytest.raises(xr.UsageError, match="argument 0 is a tensor of the host"):
        scale(64, 64, x, x, 64, 1.0)


def test_a_traced_array_is_refused(scale):
    y = xr.zeros(64)

    def traced(x):
        scale(64, 64, y, x, 64, 1.0)
        return x

    with pytest.raises(xr.UsageError, match="argument 1: got"):
        jax.jit(traced)(jnp.ones(64))


@pytest.fixture
def buffer_callback():
    return pytest.importorskip("jax.experimental.buffer_callback").buffer_callback


@pytest.mark.values
def test_buffers_of_a_callback_are_arguments(scale, buffer_callback):
    def twice(context, out, x):
        scale(64, 64, out, x, 64, 2.0)

    function = buffer_callback(twice, jax.ShapeDtypeStruct((64,), np.float32))
    got = jax.jit(lambda x: function(x + 1) + 1)(jnp.arange(64.0))
    np.testing.assert_array_equal(got, 2 * np.arange(1, 65) + 1)


@pytest.mark.values
def test_a_buffer_is_launched_with_on_another_stream(scale, buffer_callback):
    stream = xr.Stream()

    def twice(context, out, x):
        scale(64, 64, out, x, 64, 2.0, stream=stream)
        xr.current_stream().wait(stream)

    function = jax.jit(buffer_callback(twice, jax.ShapeDtypeStruct((64,), np.float32)))
    x = jnp.arange(64.0)
    for _ in range(20):
        x = function(x) / 2 + 1
    np.testing.assert_array_equal(x, np.arange(64) + 20)


def test_a_buffer_that_became_a_numpy_array_is_refused(scale, buffer_callback):
    def both(context, out, x):
        np.asarray(out)[...] = 1
        scale(64, 64, out, x, 64, 2.0)

    function = jax.jit(buffer_callback(both, jax.ShapeDtypeStruct((64,), np.float32)))
    with pytest.raises(jax.errors.JaxRuntimeError, match="already converted to a NumPy array"):
        function(jnp.arange(64.0)).block_until_ready()
