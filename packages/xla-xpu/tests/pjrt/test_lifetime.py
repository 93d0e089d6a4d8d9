"""Deletion and donation: what is gone says so, what is used elsewhere stays."""

import warnings

import jax
import jax.numpy as jnp
import numpy as np
import pytest


def fresh(xpu, value=1.0, size=16):
    return jax.device_put(np.full(size, value, np.float32), xpu)


def test_deleted_array_is_an_error(xpu):
    array = fresh(xpu)
    array.delete()
    assert array.is_deleted()
    with pytest.raises(RuntimeError, match="has been deleted"):
        array + 1


def test_deleting_while_it_is_used(xpu):
    array = fresh(xpu, size=1 << 20)
    doubled = array * 2
    array.delete()
    again = [fresh(xpu, 7, 1 << 20) for _ in range(4)]
    np.testing.assert_array_equal(np.asarray(doubled), np.full(1 << 20, 2, np.float32))
    assert len(again) == 4


def test_donation_takes_the_argument(xpu):
    step = jax.jit(lambda x, y: (x + y, x - y), donate_argnums=0)
    x, y = fresh(xpu, 3), fresh(xpu, 1)
    total, difference = step(x, y)
    assert x.is_deleted()
    assert not y.is_deleted()
    np.testing.assert_array_equal(np.asarray(total), np.full(16, 4, np.float32))
    np.testing.assert_array_equal(np.asarray(difference), np.full(16, 2, np.float32))


def test_donated_chain(xpu):
    step = jax.jit(lambda x: x + 1, donate_argnums=0)
    x = fresh(xpu, 0)
    for _ in range(100):
        x = step(x)
    np.testing.assert_array_equal(np.asarray(x), np.full(16, 100, np.float32))


@pytest.mark.parametrize("donated", [(0,), (0, 1)])
def test_donating_twice_is_an_error(xpu, donated):
    step = jax.jit(lambda x, y: x + y, donate_argnums=donated)
    x = fresh(xpu)
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")  # that one of the two cannot be used
        with pytest.raises(jax.errors.JaxRuntimeError, match="donate the same buffer twice"):
            step(x, x)
    # Refused before anything was taken.
    assert not x.is_deleted()
    np.testing.assert_array_equal(np.asarray(x), np.ones(16, np.float32))


def test_donated_memory_that_somebody_else_holds_is_not_written_to(xpu):
    x = fresh(xpu, 5)
    capsule = x.__dlpack__()
    step = jax.jit(lambda x: x * 2, donate_argnums=0)
    y = step(x)
    assert x.is_deleted()
    seen = jax.dlpack.from_dlpack(Capsule(capsule))
    np.testing.assert_array_equal(np.asarray(seen), np.full(16, 5, np.float32))
    np.testing.assert_array_equal(np.asarray(y), np.full(16, 10, np.float32))


class Capsule:
    """A DLPack capsule as the object it came from."""

    def __init__(self, capsule):
        self.capsule = capsule

    def __dlpack__(self, **_):
        return self.capsule

    def __dlpack_device__(self):
        return 14, 0


def test_use_after_donation_is_an_error(xpu):
    x = fresh(xpu)
    jax.jit(lambda x: x + 1, donate_argnums=0)(x)
    with pytest.raises(RuntimeError, match="deleted"):
        jnp.sum(x)


def test_arrays_outlive_their_names(xpu):
    results = [fresh(xpu, i) + 1 for i in range(60)]
    for i, result in enumerate(results):
        np.testing.assert_array_equal(np.asarray(result), np.full(16, i + 1, np.float32))


def test_compiling_leaves_nothing_to_collect(child):
    child(
        """
        import gc, random, jax, jax.numpy as jnp
        x = jnp.ones((4, 4))
        def program(number):
            def function(x):
                y = jax.nn.softmax(jnp.sin(x) @ x + number)
                return jax.lax.fori_loop(0, 3, lambda i, y: y @ y, y), jnp.sort(y), y.sum(0)
            return jax.block_until_ready(jax.jit(function)(x))
        program(0)
        gc.collect()
        gc.disable()
        program(random.random())  # no earlier process has compiled it
        gc.set_debug(gc.DEBUG_SAVEALL)
        gc.collect()
        ours = [type(o) for o in gc.garbage if type(o).__module__.startswith("xla_xpu")]
        assert not ours, ours
        """,
    ).check()
