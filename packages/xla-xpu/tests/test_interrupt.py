"""Ctrl-C in JAX's programs: KeyboardInterrupt, and arrays from before or after a call."""

import os

import pytest

pytestmark = pytest.mark.skipif(
    os.environ.get("XPU_STRICT_MEMORY") == "1",
    reason="strict mode waits for every launch, and hears nothing meanwhile",
)

DONATED = """
    import os, signal, threading, time
    import jax, jax.numpy as jnp, numpy as np
    step = jax.jit(lambda x: x + jnp.tanh(x * 0) + 1, donate_argnums=0)
    x = step(jnp.zeros((512, 512)))
    for turn in range(15):
        x, count, begin = jnp.zeros((512, 512)), 0, time.time()
        threading.Timer(0.05 + 0.013 * turn, os.kill, (os.getpid(), signal.SIGINT)).start()
        try:
            while time.time() < begin + 3:
                y = step(x)
                x, count = y, count + 1
        except KeyboardInterrupt:
            assert time.time() < begin + 1.5
        else:
            raise AssertionError("not interrupted")
        if not x.is_deleted():
            values = np.unique(np.asarray(x))
            assert values.tolist() in ([count], [count + 1]), (values, count)
"""


@pytest.mark.values
def test_donated_arrays_are_whole_or_deleted(child):
    child(DONATED).check()


COMPILING = """
    import os, signal, threading, time
    import jax, jax.numpy as jnp
    jnp.ones(3) + 1
    heard = 0
    for turn in range(6):
        def f(x):
            for k in range(120):
                x = jnp.sin(x * (k + time.time())) @ x  # in no cache
            return x
        timer = threading.Timer(0.15 + 0.25 * turn, os.kill, (os.getpid(), signal.SIGINT))
        begin = time.time()
        timer.start()
        try:
            try:
                jax.jit(f)(jnp.ones((30, 30)))
            except Exception as error:  # does not swallow it
                time.sleep(0)
                print(type(error), error)
            time.sleep(3)
        except KeyboardInterrupt:
            heard += 1
            assert time.time() < begin + 0.15 + 0.25 * turn + 1.5, time.time() - begin
    assert heard == 6, heard
    assert float(jax.jit(lambda x: x + 1)(jnp.ones(()))) == 2
"""


def test_a_compilation_is_interrupted(child):
    child(COMPILING).check()
