"""Functions of rows, compiled as for a GPU, beside JAX's CPU backend."""

import sys

import jax
import jax.numpy as jnp
import numpy as np
import xpu_runtime
from xpu_runtime.codegen.target import Target

import xla_xpu.compiler.devices as devices

lanes = xpu_runtime.Device(0).sub_group_size
target = Target(lanes=lanes, units=1, gpu=True, max_items=256, local_memory=1 << 16)
real = devices.target_of
for module in list(sys.modules.values()):
    if getattr(module, "target_of", None) is real:
        module.target_of = lambda device: target


def normalize(x):
    mean = x.mean(-1, keepdims=True)
    return (x - mean) * jax.lax.rsqrt(((x - mean) ** 2).mean(-1, keepdims=True) + 1e-5)


def both(x):
    return x.max(-1), jnp.argmax(x, -1), jnp.exp(x).sum(-1, keepdims=True) * x


for f in (jax.nn.softmax, normalize, jax.nn.log_softmax, both):
    for shape in ((7, 256), (9, 1000), (5, 4099), (2, 3, 70, 300)):
        for dtype in (jnp.float32, jnp.bfloat16):
            x = np.random.default_rng(0).standard_normal(shape).astype(np.float32)
            got = jax.jit(f)(jnp.asarray(x, dtype))
            with jax.default_device(jax.devices("cpu")[0]):
                want = jax.jit(f)(jnp.asarray(x, dtype))
            tolerance = 2e-5 if dtype == jnp.float32 else 2e-2
            for a, b in zip(jax.tree.leaves(got), jax.tree.leaves(want), strict=True):
                a, b = np.asarray(a, np.float64), np.asarray(b, np.float64)
                np.testing.assert_allclose(a, b, rtol=tolerance, atol=tolerance)
