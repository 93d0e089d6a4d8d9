"""Faults, each in a process of its own: an exception that says what is wrong, and the process goes on."""

import textwrap

import pytest

HEAD = """
import warnings
warnings.simplefilter("ignore")
import jax, jax.numpy as jnp, numpy as np
xpu, cpu = jax.devices("xpu")[0], jax.devices("cpu")[0]
x = jax.device_put(np.ones((4, 8), np.float32), xpu)
taking = jax.jit(lambda x, y: x + y, donate_argnums=(0, 1))
compiled = jax.jit(lambda x: x @ x.T).lower(x).compile()
"""
# What goes wrong, and words of the error.
FAULTS = {
    "donated array used again": ("taking(x, x + 1); x + 1", "deleted"),
    "donated twice": ("taking(x, x)", "donate the same buffer twice"),
    "deleted array": ("x.delete(); np.asarray(x)", "deleted"),
    "array deleted before its program runs": ("x.delete(); compiled(x)", "deleted"),
    "layout that is not supported": (
        """
        from jax.experimental.layout import Format, Layout
        jax.device_put(x, Format(Layout((1, 0)), x.sharding))
        jax.device_put(np.ones((2, 3)), Format(Layout((1, 0), tiling=((8, 128),)), x.sharding))
        """,
        "layout",
    ),
    "array of another device": ("compiled(jax.device_put(x, cpu))", "sharding"),
    "arrays of two devices": ("x + jax.device_put(x, cpu)", "incompatible devices"),
    "shape of another program": ("compiled(x[:2])", "float32[2,8]"),
    "out of memory": (
        """
        import xpu_runtime
        xpu_runtime.memory.set_limit(64 << 20)
        jnp.zeros((64, 1 << 20)).block_until_ready()
        """,
        "RESOURCE_EXHAUSTED",
    ),
    "callback that raises": (
        """
        def wrong(x):
            raise KeyError("the host said no")
        jax.block_until_ready(jax.jit(lambda x: jax.pure_callback(wrong, x, x) + 1)(x))
        """,
        "the host said no",
    ),
    "kernel that does not build": (
        """
        from xpu_runtime.codegen import kernel
        real = kernel.module_source
        kernel.module_source = lambda *a: real(*a) + "this is not C++;"
        try:
            jax.jit(lambda x: jnp.cos(x) * 3)(x)
        finally:
            kernel.module_source = real
        """,
        "this is not C++",
    ),
    "truncated executable": (
        """
        made = compiled.runtime_executable()
        serialized = made.serialize()
        xpu.client.deserialize_executable(serialized[: len(serialized) // 2], made.local_devices())
        """,
        "no executable of xla-xpu",
    ),
    "operation that is not supported": (
        "jax.jit(lambda x: x.astype(jnp.float6_e2m3fn).astype(np.float32))(x)",
        "UNIMPLEMENTED",
    ),
}
TAIL = """
except Exception as error:
    print(f"{type(error).__name__}: {error}")
else:
    raise SystemExit("nothing was raised")
assert jnp.arange(1000).sum() == 499500
"""


@pytest.mark.values
@pytest.mark.parametrize("fault", FAULTS)
def test_faults(child, fault):
    program, words = FAULTS[fault]
    body = textwrap.indent(textwrap.dedent(program).strip(), "    ")
    done = child(f"{HEAD}try:\n{body}{TAIL}").check()
    assert words in done.out, done.out
